//! Tasks and the domains of hosts that they are in: what affinity between tasks
//! and their spreading are judged and scored by.

mod check;
mod score;
mod spread;

pub(super) use check::{Kinds, TaskCheck};
pub(super) use score::AffinityScore;
pub(super) use spread::SpreadScore;

use crate::session::{Selector, Shape, State, Status, TaskIx, Wishes};
use std::collections::BTreeMap;
use stowplan_engine::{HostIx, HostView};

/// Numbers by domain: the value of the label that makes the domains.
type Tally = BTreeMap<String, i64>;

/// The label key that every host has a value of its own for.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// The domain of a host.
fn domain<'s>(state: &'s State, host: HostIx, key: &str) -> Option<&'s String> {
    state.world.facts(host).labels.get(key)
}

/// Whether a task is one of those meant, in a namespace.
fn is_meant(state: &State, task: TaskIx, namespace: &str, selector: &Selector) -> bool {
    state
        .shape_of(task)
        .wishes
        .as_deref()
        .is_some_and(|wishes| wishes.namespace == namespace && selector.matches(&wishes.labels))
}

/// Whether a task stays on its host: predicates look at nobody else.
fn stays(state: &State, task: TaskIx) -> bool {
    state[task].status != Status::Releasing
}

/// All hosts with the tasks on them.
fn residents(state: &State) -> impl Iterator<Item = (HostIx, TaskIx)> + '_ {
    let hosts = state.world.order().iter().copied();
    hosts.flat_map(|host| state.residents(host).iter().map(move |task| (host, *task)))
}

fn wishes(shape: &Shape) -> Option<&Wishes> {
    shape.wishes.as_deref()
}

/// Whether any shape of the session has wishes of this kind.
fn anyone(state: &State, wants: impl Fn(&Wishes) -> bool) -> bool {
    state.all_shapes().iter().any(|shape| wishes(shape).is_some_and(&wants))
}

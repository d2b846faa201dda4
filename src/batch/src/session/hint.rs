//! Scheduling hints of tasks: hosts that a task must or would rather have.
//!
//! `nodeNames` narrow the hosts of a shape, for whatever action looks for one;
//! `preferredNodeNames` are tried one after the other where a host with room
//! now is looked for (rule 21).

use super::objects::DomainIx;
use super::plugin::{HostVerdict, NodePredicate};
use super::shape::Shape;
use super::state::State;
use crate::world::World;
use stowplan_engine::fault::Fault;
use stowplan_engine::hint::{Hint, HintOutcome, Order, order};
use stowplan_engine::{HostIx, HostSet, HostView};

/// What goes before the best of all hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First {
    /// The host that a plan for the whole job gives the task: no other will do.
    pub(super) planned: Option<HostIx>,
    /// The host that others left for it: tried before all others.
    pub(super) nominated: Option<HostIx>,
    /// Preferred names that are looked at, at most.
    pub(super) max_hint_nodes: usize,
    /// The domain that it has to be in; none: anywhere.
    pub(super) within: Option<DomainIx>,
}

/// The hosts of these names, in any letter case.
pub(super) fn named(world: &World, names: &[String]) -> HostSet {
    let mut hosts = HostSet::with_room(world.slots());
    for host in names.iter().flat_map(|name| world.hosts_named(&name.to_lowercase())) {
        hosts.insert(*host);
    }
    hosts
}

/// Keeps a shape on the hosts that its hint names.
struct Required(HostSet);

/// The predicate of a shape's hint; none where it names no hosts.
pub(super) fn required(world: &World, shape: &Shape) -> Option<Box<dyn NodePredicate>> {
    let names = shape.hint.as_ref()?.required()?;
    Some(Box::new(Required(named(world, names))))
}

impl NodePredicate for Required {
    fn narrow(&self, _world: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        hosts.retain(|host| self.0.contains(host));
        Ok(())
    }

    fn judge(&self, _state: &State, _host: HostIx) -> Result<HostVerdict, Fault> {
        Ok(HostVerdict::Passes)
    }

    fn objection(&self, _state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        let named = self.0.contains(host);
        Ok((!named).then(|| "are not named by the hint's nodeNames".to_owned()))
    }
}

/// The preferred names of a hint, sorted out: cut to `max` first, then without
/// those that are no candidates.
pub fn preferred<'h>(world: &World, hint: &'h Hint, max: usize, candidates: &HostSet) -> Order<'h> {
    order(&hint.preferred_node_names, max, |name| {
        let hosts = world.hosts_named(&name.to_lowercase());
        hosts.iter().any(|host| candidates.contains(*host))
    })
}

/// The first preferred host that takes the task, and what became of the hint.
pub(super) fn try_preferred(
    world: &World,
    hint: &Hint,
    max: usize,
    candidates: &HostSet,
    takes: impl Fn(HostIx) -> Result<bool, Fault>,
) -> Result<(Option<HostIx>, HintOutcome), Fault> {
    if hint.preferred_node_names.is_empty() {
        return Ok((None, HintOutcome::NothingPreferred));
    }
    let names = preferred(world, hint, max, candidates).to_try;
    for name in &names {
        for &host in world.hosts_named(&name.to_lowercase()) {
            if candidates.contains(host) && takes(host)? {
                return Ok((Some(host), HintOutcome::Used));
            }
        }
    }
    let nothing = names.is_empty();
    Ok((None, if nothing { HintOutcome::NothingToTry } else { HintOutcome::NonePassed }))
}

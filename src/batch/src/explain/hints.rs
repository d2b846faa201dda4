//! What becomes of the scheduling hints of a job.

use super::Inquiry;
use crate::life::TaskState;
use crate::session::{TaskIx, preferred, why_not};
use crate::spec::JobSpec;
use crate::store::TaskDetail;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_engine::hint::{Dropped, DroppedReason, Hint, HintOutcome};
use stowplan_engine::{HostIx, HostSet, HostView};
use stowplan_ledger::rows::JobRow;
use utoipa::ToSchema;

/// What becomes of the hint of a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoleHint {
    /// The role.
    pub role: String,
    /// Its tasks that were placed, by what became of the hint then: `used`,
    /// `nothing_preferred`, `planned`, `nothing_to_try` or `none_passed`; tasks
    /// that others were evicted for are not among them, for a hint only bounds
    /// them.
    pub placed: BTreeMap<String, u32>,
    /// How many hosts `nodeNames` name; null where the hint names none.
    pub required: Option<usize>,
    /// The preferred hosts that would not take its tasks that wait, as things
    /// stand, in the order in which they are tried.
    pub tried: Vec<TriedHost>,
    /// Names that count for nothing, and why.
    pub dropped: Vec<String>,
    /// All that in words.
    pub text: String,
}

/// A preferred host that would not take a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TriedHost {
    /// The host.
    pub host: String,
    /// Why not.
    pub why: String,
}

impl Inquiry<'_> {
    /// What becomes of the hints of a job's roles, for those that have any.
    pub(super) fn hints(&self, row: &JobRow, spec: &JobSpec) -> Vec<RoleHint> {
        let hinted = spec.tasks.iter().filter_map(|role| Some((role, spec.hint_of(role)?)));
        hinted.map(|(role, hint)| self.hint(row, &role.role, &Hint::from(hint.clone()))).collect()
    }

    fn hint(&self, row: &JobRow, role: &str, hint: &Hint) -> RoleHint {
        let world = &self.state.world;
        let named = |name: &String| world.hosts_named(&name.to_lowercase());
        let required = hint
            .required()
            .map(|names| names.iter().flat_map(named).copied().collect::<BTreeSet<HostIx>>());
        let candidates: HostSet = match &required {
            Some(hosts) => hosts.iter().copied().collect(),
            None => world.order().iter().copied().collect(),
        };
        let order = preferred(world, hint, self.plant.max_hint_nodes(), &candidates);
        let strangers = hint.node_names.iter().filter(|name| named(name).is_empty());
        let mut dropped: Vec<String> =
            strangers.map(|name| passed_over("nodeNames", name, DroppedReason::Unknown)).collect();
        dropped.extend(order.outside.iter().map(|name| {
            let unknown = world.hosts_named(&name.to_lowercase()).is_empty();
            let reason = if unknown { DroppedReason::Unknown } else { DroppedReason::NoCandidate };
            passed_over("preferredNodeNames", name, reason)
        }));
        dropped.extend(
            order
                .beyond
                .iter()
                .map(|name| passed_over("preferredNodeNames", name, DroppedReason::BeyondLimit)),
        );
        let to_try: Vec<HostIx> = order
            .to_try
            .iter()
            .flat_map(|name| world.hosts_named(&name.to_lowercase()))
            .copied()
            .filter(|host| candidates.contains(*host))
            .collect();
        let placed = self.placed(row, role);
        let tried = self.waiting_task(row, role).map(|task| self.tried(task, &to_try));
        let mut told = RoleHint {
            role: role.to_owned(),
            placed: placed
                .iter()
                .map(|(outcome, count)| (outcome.as_str().to_owned(), *count))
                .collect(),
            required: required.map(|hosts| hosts.len()),
            tried: tried.clone().unwrap_or_default(),
            dropped,
            text: String::new(),
        };
        told.text = words(&told, &placed, tried.is_some().then_some(to_try.len()));
        told
    }

    /// Tasks of a role that have a place, by what became of their hint.
    fn placed(&self, row: &JobRow, role: &str) -> BTreeMap<HintOutcome, u32> {
        let mut placed = BTreeMap::new();
        for task in self.tasks(row).filter(|task| task.role == role) {
            if let Some(outcome) = TaskDetail::of(task).hint {
                *placed.entry(outcome).or_default() += 1;
            }
        }
        placed
    }

    /// A task of a role that the session would look for a host for.
    fn waiting_task(&self, row: &JobRow, role: &str) -> Option<TaskIx> {
        let job = self.jobs.get(&row.uuid)?;
        let waits: BTreeSet<_> = self
            .tasks(row)
            .filter(|task| task.role == role && task.state == TaskState::Pending.as_str())
            .map(|task| task.uuid)
            .collect();
        let tasks = self.state[*job].tasks.iter().copied();
        tasks.into_iter().find(|task| waits.contains(&self.state[*task].uuid))
    }

    fn tried(&self, task: TaskIx, hosts: &[HostIx]) -> Vec<TriedHost> {
        let shape = self.state[task].shape;
        let reasons = why_not(&self.state, self.tiers(), shape, hosts).unwrap_or_default();
        let told = reasons
            .into_iter()
            .map(|(host, why)| TriedHost { host: self.state.world.facts(host).host.clone(), why });
        told.collect()
    }
}

fn passed_over(field: &'static str, name: &str, reason: DroppedReason) -> String {
    Dropped { field, name: name.to_owned(), reason }.to_string()
}

/// A hint as a sentence; `to_try` is how many preferred hosts are tried for a
/// task that waits, if one does.
fn words(told: &RoleHint, placed: &BTreeMap<HintOutcome, u32>, to_try: Option<usize>) -> String {
    let mut parts: Vec<String> = placed
        .iter()
        .map(|(outcome, count)| format!("{count} placed: {}", outcome.sentence()))
        .collect();
    if let Some(required) = told.required {
        parts.push(format!("its nodeNames name {required} hosts"));
    }
    match (to_try, told.tried.len()) {
        (None, _) => {}
        (Some(0), _) => parts.push("no preferred host to try".to_owned()),
        (Some(all), none) if none == all => {
            let first = told.tried.first().map(|tried| format!("{}: {}", tried.host, tried.why));
            parts.push(format!(
                "none of its {all} preferred hosts would take a task now ({})",
                first.unwrap_or_default()
            ));
        }
        (Some(all), some) => {
            parts
                .push(format!("{} of its {all} preferred hosts would take a task now", all - some));
        }
    }
    format!("hint of role {}: {}", told.role, parts.join("; "))
}

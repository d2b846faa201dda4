//! Plugins that only the peer's tests have, told by their answers.

use crate::session::{
    HostVerdict, JobIx, NodePredicate, Plugin, Point, ShapeIx, State, Status, TaskIx, Vote,
};
use crate::world::World;
use serde::Deserialize;
use std::collections::BTreeMap;
use stowplan_engine::fault::Fault;
use stowplan_engine::{HostIx, HostSet, HostView};

/// What such a plugin says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Mock {
    /// Jobs that it refuses to admit; it permits all others.
    enqueue_reject: Option<Vec<String>>,
    /// Tasks that it keeps off hosts where another is.
    predicate_deny: Vec<Denial>,
    /// The nodes that a plan for the whole job gives tasks.
    plan: BTreeMap<String, String>,
    /// Tasks that the action shuffle would evict.
    victims: Vec<String>,
}

/// A task that fails on a host that holds the other, unless that is leaving.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Denial {
    task: String,
    while_present_and_not_releasing: String,
}

impl Mock {
    pub(super) fn plugin(&self) -> Box<dyn Plugin> {
        Box::new(Told(self.clone()))
    }
}

struct Told(Mock);

impl Plugin for Told {
    fn name(&self) -> &'static str {
        "mock"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobEnqueued, Point::Predicate, Point::VictimTasks]
    }

    fn job_enqueueable(&self, state: &State, job: JobIx) -> Vote {
        match &self.0.enqueue_reject {
            None => Vote::Abstain,
            Some(jobs) if jobs.contains(&state[job].name) => Vote::Reject,
            Some(_) => Vote::Permit,
        }
    }

    fn planned(&self, state: &State, task: TaskIx) -> Option<HostIx> {
        let node = self.0.plan.get(&state[task].name)?;
        state.world.hosts_named(&node.to_lowercase()).first().copied()
    }

    fn victim_tasks(&mut self, state: &State, running: &[TaskIx]) -> Vec<TaskIx> {
        let is_named = |task: &TaskIx| self.0.victims.contains(&state[*task].name);
        running.iter().copied().filter(is_named).collect()
    }

    fn victim_period(&self) -> Option<i64> {
        Some(0)
    }

    fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let jobs = state.jobs().flat_map(|job| state[job].tasks.iter().copied());
        let tasks: Vec<TaskIx> = jobs.collect();
        let named = |name: &str| tasks.iter().copied().find(|task| state[*task].name == name);
        let own =
            self.0.predicate_deny.iter().filter(|denial| {
                named(&denial.task).is_some_and(|task| state[task].shape == shape)
            });
        let apart = own.filter_map(|denial| named(&denial.while_present_and_not_releasing));
        Ok(vec![Box::new(KeepsOff(apart.collect()))])
    }
}

/// Keeps a task off hosts where one of these is.
struct KeepsOff(Vec<TaskIx>);

impl NodePredicate for KeepsOff {
    fn narrow(&self, _world: &World, _hosts: &mut HostSet) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        let stays = |task: &TaskIx| {
            state[*task].host == Some(host) && state[*task].status != Status::Releasing
        };
        let fails = self.0.iter().any(stays);
        Ok(if fails { HostVerdict::Unschedulable } else { HostVerdict::Passes })
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        let passes = self.judge(state, host)? == HostVerdict::Passes;
        Ok((!passes).then(|| "have another task".to_owned()))
    }
}

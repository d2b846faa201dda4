//! What a cycle does, one action after the other.

mod allocate;
mod backfill;
mod enqueue;
mod evict;
mod gang;
mod grouped;
mod lines;
mod preempt;
mod reclaim;
mod room;
mod sheet;
mod shuffle;
mod simulate;
mod spare;

use crate::life::JobPhase;
use crate::plugins::{ArgumentFault, Arguments};
use crate::registry::{Named, UnknownName, find};
use crate::session::{JobIx, Session, Status, TaskIx};
pub use allocate::Allocate;
pub use backfill::Backfill;
pub use enqueue::Enqueue;
pub use gang::GangEviction;
use lines::Lines;
pub use preempt::Preempt;
pub use reclaim::Reclaim;
pub use shuffle::Shuffle;
use std::collections::BTreeMap;

/// A step of a cycle.
pub trait Action: Send + Sync {
    /// Its name in `[batch] actions`.
    fn name(&self) -> &'static str;

    /// Does it.
    fn run(&self, session: &mut Session<'_>);
}

type Make = fn(&Arguments) -> Result<Box<dyn Action>, ArgumentFault>;

/// The actions there are.
const ACTIONS: &[Named<Make>] = &[
    Named { name: "enqueue", make: |_| Ok(Box::new(Enqueue)) },
    Named { name: "allocate", make: |_| Ok(Box::new(Allocate)) },
    Named { name: "backfill", make: |_| Ok(Box::new(Backfill)) },
    Named { name: "preempt", make: |arguments| Ok(Box::new(Preempt::new(arguments)?)) },
    Named { name: "reclaim", make: |_| Ok(Box::new(Reclaim)) },
    Named { name: "shuffle", make: |_| Ok(Box::new(Shuffle)) },
    Named {
        name: "gangpreempt",
        make: |arguments| Ok(Box::new(GangEviction::preempt(arguments)?)),
    },
    Named {
        name: "gangreclaim",
        make: |arguments| Ok(Box::new(GangEviction::reclaim(arguments)?)),
    },
];

/// Why actions cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionFault {
    /// A name that no action has.
    #[error("[batch] actions: {0}")]
    Unknown(#[from] UnknownName),
    /// An argument that cannot be used.
    #[error(transparent)]
    Argument(#[from] ArgumentFault),
}

/// The actions of these names, in their order, with the arguments that
/// `[batch:<action>]` gives them.
///
/// # Errors
/// A name that no action has, or an argument that cannot be used.
pub fn actions<'a>(
    names: impl IntoIterator<Item = &'a str>,
    arguments: &BTreeMap<String, BTreeMap<String, String>>,
) -> Result<Vec<Box<dyn Action>>, ActionFault> {
    let make = |name: &'a str| {
        let entry = find("action", ACTIONS, name)?;
        let given = arguments.get(name).cloned().unwrap_or_default();
        let arguments = Arguments::new(entry.name, given);
        let action = (entry.make)(&arguments)?;
        arguments.check_names()?;
        Ok(action)
    };
    names.into_iter().map(make).collect()
}

/// Names of all actions.
pub fn action_names() -> impl Iterator<Item = &'static str> {
    ACTIONS.iter().map(|action| action.name)
}

/// Whether a job may be placed in this cycle: admitted, and valid in the eyes of
/// all plugins. Without the action enqueue every waiting job is admitted here.
/// Whether its queue is open is for plugins to say: what was admitted before it
/// closed may still get a place that asks for nothing.
fn may_be_placed(session: &mut Session<'_>, job: JobIx) -> bool {
    let at = &session.state[job];
    if matches!(at.phase, JobPhase::Failed | JobPhase::Cancelled) {
        return false;
    }
    if at.phase == JobPhase::Pending {
        if session.options().enqueues {
            return false;
        }
        session.state.job_mut(job).phase = JobPhase::Inqueue;
    }
    session.tiers.job_objection(&session.state, job).is_none()
}

/// Tasks of a job that wait, in their order, as far as they are wanted.
fn waiting(session: &Session<'_>, job: JobIx, wanted: impl Fn(TaskIx) -> bool) -> Vec<TaskIx> {
    let state = &session.state;
    let waits = |task: &TaskIx| state[*task].status == Status::Pending && wanted(*task);
    let mut tasks: Vec<TaskIx> = state[job].tasks.iter().copied().filter(waits).collect();
    tasks.sort_by(|a, b| session.tiers.task_order(state, *a, *b));
    tasks
}

/// The jobs for which others may be evicted: those that may be placed and have
/// not their minimum.
fn starving(session: &mut Session<'_>) -> Vec<JobIx> {
    let jobs: Vec<JobIx> = session.state.jobs().collect();
    let starves = |job: &JobIx| {
        session.state[*job].phase != JobPhase::Pending
            && may_be_placed(session, *job)
            && session.tiers.job_starving(&session.state, *job)
    };
    jobs.into_iter().filter(starves).collect()
}

//! What a cycle does, one action after the other.

mod allocate;
mod backfill;

use crate::life::JobPhase;
use crate::registry::UnknownName;
use crate::registry::{Named, find};
use crate::session::{Heap, JobIx, QueueIx, Session, TaskIx};
pub use allocate::Allocate;
pub use backfill::Backfill;

/// A step of a cycle.
pub trait Action: Send + Sync {
    /// Its name in `[batch] actions`.
    fn name(&self) -> &'static str;

    /// Does it.
    fn run(&self, session: &mut Session<'_>);
}

type Make = fn() -> Box<dyn Action>;

/// The actions there are.
const ACTIONS: &[Named<Make>] = &[
    Named { name: "allocate", make: || Box::new(Allocate) },
    Named { name: "backfill", make: || Box::new(Backfill) },
];

/// The actions of these names, in their order.
///
/// # Errors
/// A name that no action has.
pub fn actions<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Box<dyn Action>>, UnknownName> {
    let found = names.into_iter().map(|name| find("action", ACTIONS, name));
    found.map(|entry| entry.map(|entry| (entry.make)())).collect()
}

/// Names of all actions.
pub fn action_names() -> impl Iterator<Item = &'static str> {
    ACTIONS.iter().map(|action| action.name)
}

/// Jobs to be served: queues in their order, in each its jobs in theirs.
struct Lines {
    queues: Heap<QueueIx>,
    jobs: Vec<Heap<JobIx>>,
}

impl Lines {
    /// Lines of these jobs.
    fn of(session: &Session<'_>, jobs: impl IntoIterator<Item = JobIx>) -> Self {
        let mut lines = Self { queues: Heap::new(), jobs: Vec::new() };
        lines.jobs.resize_with(session.state.queues().count(), Heap::new);
        for job in jobs {
            lines.push_job(session, job);
        }
        for queue in session.state.queues() {
            if !lines.jobs[queue.index()].is_empty() {
                lines.push_queue(session, queue);
            }
        }
        lines
    }

    fn pop_queue(&mut self, session: &Session<'_>) -> Option<QueueIx> {
        self.queues.pop(|a, b| session.tiers.queue_order(&session.state, a, b))
    }

    fn push_queue(&mut self, session: &Session<'_>, queue: QueueIx) {
        self.queues.push(queue, |a, b| session.tiers.queue_order(&session.state, a, b));
    }

    fn pop_job(&mut self, session: &Session<'_>, queue: QueueIx) -> Option<JobIx> {
        self.jobs[queue.index()].pop(|a, b| session.tiers.job_order(&session.state, a, b))
    }

    fn push_job(&mut self, session: &Session<'_>, job: JobIx) {
        let queue = session.state[job].queue;
        self.jobs[queue.index()].push(job, |a, b| session.tiers.job_order(&session.state, a, b));
    }
}

/// Whether a job may be placed in this cycle: admitted, in an open queue, and
/// valid in the eyes of all plugins. Without the action enqueue every waiting
/// job is admitted here.
fn may_be_placed(session: &mut Session<'_>, job: JobIx) -> bool {
    let at = &session.state[job];
    if at.phase.is_final() || !session.state[at.queue].open {
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

/// Tasks of a job that wait, in their order: the best-effort ones or the
/// others.
fn waiting(session: &Session<'_>, job: JobIx, best_effort: bool) -> Vec<TaskIx> {
    let state = &session.state;
    let wanted = |task: &TaskIx| {
        state[*task].status == crate::session::Status::Pending
            && state.shape_of(*task).is_best_effort() == best_effort
    };
    let mut tasks: Vec<TaskIx> = state[job].tasks.iter().copied().filter(wanted).collect();
    tasks.sort_by(|a, b| session.tiers.task_order(state, *a, *b));
    tasks
}

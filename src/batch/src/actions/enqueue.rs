//! `enqueue`: admits jobs, so that not more wait for hosts than could be served.

use super::{Action, Lines};
use crate::life::JobPhase;
use crate::session::{JobIx, Session};

/// Takes queues in their order and from each one waiting job at a time. A job
/// is admitted when plugins let it in, or when it does not say what it needs at
/// least; then the next one has its turn, whatever became of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enqueue;

impl Action for Enqueue {
    fn name(&self) -> &'static str {
        "enqueue"
    }

    fn run(&self, session: &mut Session<'_>) {
        let waits = |job: &JobIx| session.state[*job].phase == JobPhase::Pending;
        let jobs: Vec<JobIx> = session.state.jobs().filter(waits).collect();
        let mut lines = Lines::of(session, jobs);
        while let Some(queue) = lines.pop_queue(session) {
            let Some(job) = lines.pop_job(session, queue) else { continue };
            let asks = session.state[job].min_resources.is_some();
            if !asks || session.tiers.job_enqueueable(&session.state, job) {
                session.admit(job);
            }
            lines.push_queue(session, queue);
        }
    }
}

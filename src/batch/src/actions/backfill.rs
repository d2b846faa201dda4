//! `backfill`: gives tasks that ask for nothing a place.

use super::{Action, may_be_placed, waiting};
use crate::session::{JobIx, Session, Statement};

/// Places the best-effort tasks of all valid jobs, queue by queue, job by job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backfill;

impl Action for Backfill {
    fn name(&self) -> &'static str {
        "backfill"
    }

    fn run(&self, session: &mut Session<'_>) {
        let mut jobs: Vec<JobIx> = session.state.jobs().collect();
        while !jobs.is_empty() {
            jobs.retain(|job| may_be_placed(session, *job));
            let state = &session.state;
            jobs.sort_by(|a, b| {
                let queues = (state[*a].queue, state[*b].queue);
                session
                    .tiers
                    .queue_order(state, queues.0, queues.1)
                    .then_with(|| session.tiers.job_order(state, *a, *b))
            });
            for job in jobs {
                place_all(session, job);
            }
            jobs = session.settle(true);
        }
    }
}

/// Places what it can; it holds only if the job then has its minimum.
fn place_all(session: &mut Session<'_>, job: JobIx) {
    let mut statement = Statement::new(job);
    for task in waiting(session, job, true) {
        if let Ok(Some(host)) = session.best_host(task) {
            session.allocate(&mut statement, task, host);
        }
    }
    if session.is_ready(job) {
        session.commit(statement);
    } else {
        session.discard(statement);
    }
}

//! `backfill`: gives tasks that ask for nothing a place.

use super::{Action, may_be_placed, waiting};
use crate::session::{DomainIx, JobIx, Place, Session, Statement, Status, TaskIx};
use stowplan_engine::HostIx;

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

/// Places what it can. It is committed if the job has its minimum, and holds
/// until the end of the cycle otherwise.
fn place_all(session: &mut Session<'_>, job: JobIx) {
    let is_best_effort = |task: &TaskIx| session.state.shape_of(*task).is_best_effort();
    let promised: Vec<TaskIx> = session.state[job]
        .tasks
        .iter()
        .copied()
        .filter(|task| session.state[*task].status == Status::Pipelined)
        .filter(is_best_effort)
        .collect();
    promised.into_iter().for_each(|task| session.withdraw(task));
    let mut statement = Statement::new(job);
    let tasks = waiting(session, job, |task| session.state.shape_of(task).is_best_effort());
    for task in tasks {
        let host = host_for(session, task);
        if let Some(host) = host {
            session.allocate(&mut statement, task, host);
        }
    }
    if session.is_ready(job) {
        session.commit(statement);
    } else {
        session.keep(statement);
    }
}

/// The host with room now for a task. Where several domains will do it is the
/// best of all hosts if that is in one of them, else one of the first domain
/// that has any.
fn host_for(session: &mut Session<'_>, task: TaskIx) -> Option<HostIx> {
    let allowed = session.domains_for_task(task);
    let top = session.state.domains.top();
    if allowed.len() > 1
        && let Some(host) = best_now(session, task, top)
        && allowed.iter().any(|domain| session.state.domains.contains(*domain, host))
    {
        return Some(host);
    }
    allowed.into_iter().find_map(|domain| best_now(session, task, domain))
}

fn best_now(session: &mut Session<'_>, task: TaskIx, domain: DomainIx) -> Option<HostIx> {
    let best = match domain == session.state.domains.top() {
        true => session.best_host(task),
        false => session.best_host_in(task, domain),
    };
    match best {
        Ok(Some(Place::Now(host))) => Some(host),
        Ok(Some(Place::Later(_)) | None) | Err(_) => None,
    }
}

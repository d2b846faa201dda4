//! `gang`: a job's minimum is placed together or not at all.

use crate::session::{Census, Job, JobIx, Objection, Plugin, Point, State, Status, Vote};
use std::cmp::Ordering;

/// Says when a job has its minimum, in all and per role; a job that has it
/// not comes first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gang;

/// Whether `count` of every role with a minimum reaches it. Minima whose sum is
/// above the job's own are not looked at.
fn roles_reach(job: &Job, count: impl Fn(&Census) -> u32) -> bool {
    job.min_available < job.role_minima()
        || job.roles.iter().all(|role| role.min.is_none_or(|min| count(&role.census) >= min))
}

fn ready(census: &Census) -> u32 {
    census.ready() + census.best_effort()
}

fn pipelined(census: &Census) -> u32 {
    ready(census) + census.get(Status::Pipelined)
}

fn valid(census: &Census) -> u32 {
    census.ready() + census.get(Status::Pipelined) + census.get(Status::Pending)
}

impl Plugin for Gang {
    fn name(&self) -> &'static str {
        "gang"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobOrder, Point::JobValid, Point::JobReady, Point::JobPipelined]
    }

    fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        let has_minimum = |job: JobIx| ready(&state[job].census) >= state[job].min_available;
        has_minimum(a).cmp(&has_minimum(b))
    }

    fn job_valid(&self, state: &State, job: JobIx) -> Option<Objection> {
        let job = &state[job];
        let tasks = valid(&job.census);
        if tasks < job.min_available {
            let message = format!("{tasks} tasks can run, the job needs {}", job.min_available);
            return Some(Objection { reason: "NotEnoughTasks", message });
        }
        if roles_reach(job, valid) {
            return None;
        }
        let short =
            job.roles.iter().find(|role| role.min.is_some_and(|min| valid(&role.census) < min));
        let message = short.map_or_else(String::new, |role| {
            let needs = role.min.unwrap_or_default();
            format!(
                "{} tasks of role {} can run, the job needs {needs}",
                valid(&role.census),
                role.name
            )
        });
        Some(Objection { reason: "NotEnoughTasksOfRole", message })
    }

    fn job_ready(&self, state: &State, job: JobIx) -> bool {
        let job = &state[job];
        ready(&job.census) >= job.min_available && roles_reach(job, ready)
    }

    fn job_pipelined(&self, state: &State, job: JobIx) -> Vote {
        let job = &state[job];
        let has = pipelined(&job.census) >= job.min_available && roles_reach(job, pipelined);
        if has { Vote::Permit } else { Vote::Reject }
    }
}

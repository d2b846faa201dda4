//! `priority`: jobs and tasks of higher priority first.

use crate::session::{JobIx, Plugin, Point, State, Status, TaskIx};
use std::cmp::Ordering;

/// Orders jobs and tasks by priority, high first; a job takes others off their
/// hosts as long as a task of it waits, and only those of lower priority.
#[derive(Clone, Copy, Debug, Default)]
pub struct Priority;

impl Plugin for Priority {
    fn name(&self) -> &'static str {
        "priority"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobOrder, Point::TaskOrder, Point::JobStarving, Point::Preemptable]
    }

    fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        state[b].priority.cmp(&state[a].priority)
    }

    fn task_order(&self, state: &State, a: TaskIx, b: TaskIx) -> Ordering {
        state[b].priority.cmp(&state[a].priority)
    }

    fn job_starving(&self, state: &State, job: JobIx) -> bool {
        let census = &state[job].census;
        census.ready() + census.get(Status::Pipelined) < census.all()
    }

    fn preemptable(
        &mut self,
        state: &State,
        preemptor: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        let (own, job) = (&state[preemptor], state[preemptor].job);
        let lower = |task: &TaskIx| {
            let other = &state[*task];
            if other.job == job {
                other.priority < own.priority
            } else {
                state[other.job].priority < state[job].priority
            }
        };
        Some(candidates.iter().copied().filter(lower).collect())
    }
}

//! `priority`: jobs and tasks of higher priority first.

use crate::session::{Eviction, GroupIx, JobIx, Plugin, Point, State, Status, TaskIx};
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
        use Point::{Evictable, GroupOrder, JobOrder, JobStarving, Preemptable, TaskOrder};
        &[JobOrder, TaskOrder, GroupOrder, JobStarving, Preemptable, Evictable]
    }

    fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        state[b].priority.cmp(&state[a].priority)
    }

    fn task_order(&self, state: &State, a: TaskIx, b: TaskIx) -> Ordering {
        state[b].priority.cmp(&state[a].priority)
    }

    fn group_order(&self, state: &State, job: JobIx, a: GroupIx, b: GroupIx) -> Ordering {
        let priority = |group| state[job].group(group).map(|group| group.priority);
        priority(b).cmp(&priority(a))
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

    fn evictable(
        &mut self,
        state: &State,
        eviction: Eviction,
        preemptor: JobIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        // Between queues it is shares that count.
        let lower = |task: &TaskIx| {
            eviction == Eviction::Reclaim
                || state[state[*task].job].priority < state[preemptor].priority
        };
        Some(candidates.iter().copied().filter(lower).collect())
    }
}

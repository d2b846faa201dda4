//! The order in which tasks are evicted.

use super::objects::{JobIx, QueueIx, TaskIx};
use super::state::State;
use super::tiers::Tiers;
use std::cmp::Ordering;

impl Tiers {
    /// Orders tasks as they would be evicted for a job, the first first: those
    /// whose job is gone; then by queue, if that of the preemptor is known; by
    /// job, the one that is served last first; by task, likewise, to the very
    /// end of that order.
    pub fn sort_victims(&self, state: &State, preemptor: Option<JobIx>, tasks: &mut [TaskIx]) {
        let queue = preemptor.map(|job| state[job].queue);
        tasks.sort_by(|a, b| self.victim_order(state, queue, *a, *b));
    }

    fn victim_order(
        &self,
        state: &State,
        preemptor: Option<QueueIx>,
        a: TaskIx,
        b: TaskIx,
    ) -> Ordering {
        let (left, right) = (state[a].job, state[b].job);
        let gone = state[left].listed.cmp(&state[right].listed);
        if gone.is_ne() || !state[left].listed {
            return gone.then_with(|| self.task_order(state, b, a));
        }
        let queues = (state[left].queue, state[right].queue);
        let by_queue = match preemptor {
            Some(preemptor) if queues.0 != queues.1 => {
                self.victim_queue_order(state, queues.0, queues.1, preemptor)
            }
            _ => Ordering::Equal,
        };
        let by_job = || {
            if left == right { Ordering::Equal } else { self.job_preference(state, right, left) }
        };
        by_queue.then_with(by_job).then_with(|| self.task_order(state, b, a))
    }
}

//! What jobs of lower priority could yield.

use crate::amounts::Amounts;
use crate::plugins::quota::elastic;
use crate::session::{QueueIx, State, Status};
use std::collections::BTreeMap;

/// What tasks that may be evicted hold, by queue and by the priority of their
/// jobs, when a session begins: as far as it is more than what their jobs hold
/// beyond their least, which queues do not count anyway.
#[derive(Clone, Debug, Default)]
pub(super) struct Lower {
    queues: Vec<BTreeMap<i64, Amounts>>,
}

impl Lower {
    /// Of all jobs.
    pub(super) fn of(state: &State) -> Self {
        let mut queues = vec![BTreeMap::<i64, Amounts>::new(); state.queues().count()];
        for job in state.jobs() {
            let at = &state[job];
            let tasks = at.tasks.iter().filter(|task| {
                let task = &state[**task];
                let has_place = matches!(task.status, Status::Bound | Status::Running);
                has_place && task.preemptable && !task.protected
            });
            let Some(queue) = queues.get_mut(at.queue.index()) else { continue };
            let held = state.asked_by(tasks);
            let yielded = held.exceeded(&elastic(at));
            queue.entry(at.priority).or_default().add(&yielded);
        }
        Self { queues }
    }

    /// What those below a priority hold in a queue.
    pub(super) fn than(&self, queue: QueueIx, priority: i64) -> Amounts {
        let mut sum = Amounts::new();
        let queue = self.queues.get(queue.index());
        for held in queue.into_iter().flat_map(|queue| queue.range(..priority)) {
            sum.add(held.1);
        }
        sum
    }
}

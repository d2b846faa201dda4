//! Jobs to be served: queues in their order, in each its jobs in theirs.

use crate::session::{Heap, JobIx, QueueIx, Session};

/// Queues and jobs that wait for an action.
pub(super) struct Lines {
    queues: Heap<QueueIx>,
    jobs: Vec<Heap<JobIx>>,
}

impl Lines {
    /// Lines of these jobs.
    pub(super) fn of(session: &Session<'_>, jobs: impl IntoIterator<Item = JobIx>) -> Self {
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

    pub(super) fn pop_queue(&mut self, session: &Session<'_>) -> Option<QueueIx> {
        self.queues.pop(|a, b| session.tiers.queue_order(&session.state, a, b))
    }

    pub(super) fn push_queue(&mut self, session: &Session<'_>, queue: QueueIx) {
        self.queues.push(queue, |a, b| session.tiers.queue_order(&session.state, a, b));
    }

    pub(super) fn pop_job(&mut self, session: &Session<'_>, queue: QueueIx) -> Option<JobIx> {
        self.jobs[queue.index()].pop(|a, b| session.tiers.job_order(&session.state, a, b))
    }

    pub(super) fn push_job(&mut self, session: &Session<'_>, job: JobIx) {
        let queue = session.state[job].queue;
        self.jobs[queue.index()].push(job, |a, b| session.tiers.job_order(&session.state, a, b));
    }
}

//! `proportion`: queues share everything by their weights.

mod fill;

use super::quota::{
    Books, capability, dominant_share, held_by_jobs, queue_of, real_capability, too_much,
};
use crate::amounts::{Amounts, Missing};
use crate::session::{JobIx, Plugin, Point, QueueIx, State, TaskIx, Vote};
use fill::{Claim, fill};
use std::cmp::Ordering;

/// Divides what there is among the queues that have jobs, by their weights, up
/// to what each asks for; none takes more than it is given.
#[derive(Clone, Debug, Default)]
pub struct Proportion {
    queues: Vec<Entry>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    books: Books,
    real_capability: Amounts,
    deserved: Amounts,
    share: f64,
}

impl Entry {
    fn refresh(&mut self) {
        self.share = dominant_share(&self.books.allocated, &self.deserved);
    }
}

impl Proportion {
    fn at(&self, queue: QueueIx) -> Option<&Entry> {
        self.queues.get(queue.index())
    }

    fn change(&mut self, state: &State, task: TaskIx, change: fn(&mut Amounts, &Amounts)) {
        if let Some(entry) = self.queues.get_mut(queue_of(state, task).index()) {
            change(&mut entry.books.allocated, &state.shape_of(task).request);
            entry.refresh();
        }
    }

    fn takes(&self, state: &State, queue: QueueIx, request: &Amounts) -> bool {
        state[queue].open
            && self.at(queue).is_some_and(|entry| entry.books.takes(request, &entry.deserved))
    }
}

impl Plugin for Proportion {
    fn name(&self) -> &'static str {
        "proportion"
    }

    fn points(&self) -> &'static [Point] {
        use Point::{Allocatable, JobEnqueued, Overused, Preemptive, QueueOrder, Reclaimable};
        &[QueueOrder, JobEnqueued, Overused, Allocatable, Preemptive, Reclaimable]
    }

    fn open(&mut self, state: &State) {
        let total = state.total();
        let mut guarantees = Amounts::new();
        state.queues().for_each(|queue| guarantees.add(&state[queue].guarantee));
        let books = Books::of(state);
        let claims: Vec<Claim> = state
            .queues()
            .zip(&books)
            .filter(|(_, books)| books.has_jobs)
            .map(|(queue, books)| {
                let at = &state[queue];
                let cap = capability(at);
                Claim {
                    queue,
                    weight: at.weight,
                    request: books.request.clone(),
                    guarantee: at.guarantee.clone(),
                    limit: real_capability(&total, &guarantees, &at.guarantee, cap.as_ref()),
                }
            })
            .collect();
        self.queues = books.into_iter().map(|books| Entry { books, ..Entry::default() }).collect();
        let filled = fill(&total, &claims);
        for (claim, deserved) in claims.into_iter().zip(filled) {
            if let Some(entry) = self.queues.get_mut(claim.queue.index()) {
                (entry.real_capability, entry.deserved) = (claim.limit, deserved);
                entry.refresh();
            }
        }
    }

    fn queue_order(&self, state: &State, a: QueueIx, b: QueueIx) -> Ordering {
        let share = |queue: QueueIx| self.at(queue).map_or(0.0, |entry| entry.share);
        state[b].priority.cmp(&state[a].priority).then_with(|| share(a).total_cmp(&share(b)))
    }

    fn overused(&self, _state: &State, queue: QueueIx) -> bool {
        self.at(queue)
            .is_some_and(|entry| entry.deserved.less_equal(&entry.books.allocated, Missing::Zero))
    }

    fn allocatable(&self, state: &State, queue: QueueIx, task: TaskIx) -> bool {
        self.takes(state, queue, &state.shape_of(task).request)
    }

    fn queue_objection(&self, state: &State, queue: QueueIx, task: TaskIx) -> Option<String> {
        let entry = self.at(queue)?;
        too_much(state, queue, &entry.books, &state.shape_of(task).request, &entry.deserved)
    }

    fn preemptive(&self, state: &State, queue: QueueIx, tasks: &[TaskIx]) -> bool {
        self.takes(state, queue, &state.asked_by(tasks))
    }

    fn reclaimable(
        &mut self,
        state: &State,
        _reclaimer: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        let mut held: Vec<Option<Amounts>> = vec![None; self.queues.len()];
        let mut victims = Vec::new();
        for &task in candidates {
            let queue = queue_of(state, task);
            let (Some(entry), Some(held)) = (self.at(queue), held.get_mut(queue.index())) else {
                continue;
            };
            let held = held.get_or_insert_with(|| entry.books.allocated.clone());
            if !held.less_equal(&entry.deserved, Missing::Zero) {
                held.sub(&state.shape_of(task).request);
                victims.push(task);
            }
        }
        Some(victims)
    }

    fn job_enqueueable(&self, state: &State, job: JobIx) -> Vote {
        let at = &state[job];
        if !state[at.queue].open {
            return Vote::Reject;
        }
        let (Some(least), Some(entry)) = (&at.min_resources, self.at(at.queue)) else {
            return Vote::Permit;
        };
        if entry.books.admits(least, &entry.real_capability) { Vote::Permit } else { Vote::Reject }
    }

    fn job_enqueued(&mut self, state: &State, job: JobIx) {
        let at = &state[job];
        if let (Some(least), Some(entry)) =
            (&at.min_resources, self.queues.get_mut(at.queue.index()))
        {
            entry.books.inqueue.add(least);
        }
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        self.change(state, task, Amounts::add);
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        self.change(state, task, Amounts::sub);
    }

    fn audit(&self, state: &State) -> Option<String> {
        let mut fresh = vec![Amounts::new(); self.queues.len()];
        let held = held_by_jobs(state);
        for job in state.jobs() {
            fresh.get_mut(state[job].queue.index())?.add(&held[job.index()]);
        }
        let differs = |(entry, fresh): &(&Entry, &Amounts)| {
            !entry.books.allocated.equals(fresh, Missing::Zero)
        };
        let (entry, fresh) = self.queues.iter().zip(&fresh).find(differs)?;
        Some(format!("a queue holds {fresh:?} and not {:?}", entry.books.allocated))
    }
}

//! What queues hold, ask for and have promised.

use crate::amounts::{Amounts, DimIx, Missing, UNLIMITED, share};
use crate::life::JobPhase;
use crate::session::{Job, JobIx, Queue, QueueIx, State, Status, TaskIx};

/// The books of one queue.
#[derive(Clone, Debug, Default)]
pub struct Books {
    /// Whether any job is in it.
    pub has_jobs: bool,
    /// What its tasks hold, promises of this cycle included.
    pub allocated: Amounts,
    /// That and what waiting tasks ask for.
    pub request: Amounts,
    /// What jobs hold beyond their least.
    pub elastic: Amounts,
    /// What admitted jobs still need for their least.
    pub inqueue: Amounts,
}

/// The part of a job's least resources that it does not hold yet.
#[must_use]
pub fn remaining_need(least: &Amounts, held: &Amounts) -> Amounts {
    let mut need = Amounts::new();
    for (dim, amount) in least.positive() {
        if amount > held.get(dim) {
            need.set(dim, amount - held.get(dim));
        }
    }
    need
}

/// What a job holds beyond its least resources; all of it where it names none.
#[must_use]
pub fn elastic(job: &Job) -> Amounts {
    match &job.min_resources {
        Some(least) => job.allocated.exceeded(least),
        None => job.allocated.clone(),
    }
}

/// What an admitted job still needs for its least: all of it, or what is left
/// of it once it runs. A job that has lost its minimum reserves nothing.
#[must_use]
pub fn promised(job: &Job) -> Option<Amounts> {
    let least = job.min_resources.as_ref()?;
    let allocated: u32 = [Status::Allocated, Status::Binding, Status::Bound, Status::Running]
        .iter()
        .map(|status| job.census.get(*status))
        .sum();
    let counts = match job.phase {
        JobPhase::Inqueue => true,
        JobPhase::Running => allocated >= job.min_available,
        _ => false,
    };
    counts.then(|| remaining_need(least, &job.allocated))
}

impl Books {
    /// The books of all queues, from their jobs alone.
    #[must_use]
    pub fn of(state: &State) -> Vec<Self> {
        let mut all = vec![Self::default(); state.queues().count()];
        for job in state.jobs() {
            let at = &state[job];
            if let Some(books) = all.get_mut(at.queue.index()) {
                books.enter(state, job);
            }
        }
        all
    }

    fn enter(&mut self, state: &State, job: JobIx) {
        let at = &state[job];
        self.has_jobs = true;
        self.allocated.add(&at.allocated);
        self.request.add(&at.allocated);
        for task in &at.tasks {
            // A promise of an earlier cycle stands.
            if state[*task].status == Status::Pipelined {
                self.allocated.add(&state.shape_of(*task).request);
            }
            if matches!(state[*task].status, Status::Pending | Status::Pipelined) {
                self.request.add(&state.shape_of(*task).request);
            }
        }
        self.elastic.add(&elastic(at));
        if let Some(need) = promised(at) {
            self.inqueue.add(&need);
        }
    }

    /// Adds the books of a queue below.
    pub fn add(&mut self, other: &Self) {
        self.has_jobs |= other.has_jobs;
        self.allocated.add(&other.allocated);
        self.request.add(&other.request);
        self.elastic.add(&other.elastic);
        self.inqueue.add(&other.inqueue);
    }

    /// Whether a job of these least resources would stay within a limit, beside
    /// what is held and promised and without what is held beyond any need.
    #[must_use]
    pub fn admits(&self, least: &Amounts, limit: &Amounts) -> bool {
        self.admits_beside(least, limit, &Amounts::new())
    }

    /// The same, where others would yield so much of what is held.
    #[must_use]
    pub fn admits_beside(&self, least: &Amounts, limit: &Amounts, yielded: &Amounts) -> bool {
        least.asked().all(|dim| {
            let held = self.allocated.get(dim).saturating_add(self.inqueue.get(dim));
            let sum = least.get(dim).saturating_add(held) - self.elastic.get(dim);
            sum - yielded.get(dim) <= limit.get(dim)
        })
    }

    /// Whether a task's request would stay within a limit.
    #[must_use]
    pub fn takes(&self, request: &Amounts, limit: &Amounts) -> bool {
        let sum = |dim| self.allocated.get(dim).saturating_add(request.get(dim));
        request.asked().all(|dim| sum(dim) <= limit.get(dim))
    }
}

/// What the tasks of each job hold, promises of this cycle included: what the
/// event handlers of plugins add up step by step.
#[must_use]
pub fn held_by_jobs(state: &State) -> Vec<Amounts> {
    let mut held = vec![Amounts::new(); state.job_count()];
    for job in state.jobs() {
        held[job.index()].add(&state[job].allocated);
        for task in &state[job].tasks {
            if state[*task].status == Status::Pipelined {
                held[job.index()].add(&state.shape_of(*task).request);
            }
        }
    }
    held
}

/// What stands against a request in words: what a queue would hold of the first
/// thing that is too much, and its limit.
#[must_use]
pub fn too_much(
    state: &State,
    queue: QueueIx,
    books: &Books,
    request: &Amounts,
    limit: &Amounts,
) -> Option<String> {
    let mut sum = books.allocated.clone();
    sum.add(request);
    let dim = sum.above_for(limit, request).next()?;
    let (dims, name) = (state.world.dims(), &state[queue].name);
    Some(format!(
        "queue {name} would hold {} {}, it may hold {}",
        sum.get(dim),
        dims.name(dim),
        limit.get(dim)
    ))
}

/// The largest share of what a queue deserves that it holds, over the
/// dimensions in which it deserves something.
#[must_use]
pub fn dominant_share(allocated: &Amounts, deserved: &Amounts) -> f64 {
    deserved.positive().map(|(dim, all)| share(allocated.get(dim), all)).fold(0.0, f64::max)
}

/// A queue's cap: without one, or where it is nothing of cpu or memory, there
/// is no limit.
#[must_use]
pub fn capability(queue: &Queue) -> Option<Amounts> {
    let mut cap = queue.capability.clone()?;
    for dim in [DimIx::CPU, DimIx::MEMORY] {
        if cap.get(dim) <= 0 {
            cap.set(dim, UNLIMITED);
        }
    }
    Some(cap)
}

/// What a queue can really get: what the guarantees of all leave of the whole,
/// and its own guarantee, within its cap.
#[must_use]
pub fn real_capability(
    whole: &Amounts,
    guarantees: &Amounts,
    own: &Amounts,
    cap: Option<&Amounts>,
) -> Amounts {
    let mut real = whole.exceeded(guarantees);
    real.add(own);
    if let Some(cap) = cap {
        real.cap(cap, Missing::Infinity);
    }
    real
}

/// The queue of a task.
#[must_use]
pub fn queue_of(state: &State, task: TaskIx) -> QueueIx {
    state[state[task].job].queue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_still() {
        let mut least = Amounts::new();
        least.set(DimIx::CPU, 4);
        least.set(DimIx::PODS, 10);
        least.set(DimIx(4), 2);
        let mut held = Amounts::new();
        held.set(DimIx::CPU, 1);
        held.set(DimIx(4), 2);
        let need = remaining_need(&least, &held);
        assert_eq!(
            need.iter().collect::<Vec<_>>(),
            [(DimIx::CPU, 3), (DimIx::MEMORY, 0), (DimIx::PODS, 10)]
        );
    }
}

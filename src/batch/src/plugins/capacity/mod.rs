//! `capacity`: queues have what they deserve by right and may borrow up to
//! their capability; queues may form a tree.

mod build;
mod entry;
mod lower;
mod reclaim;

use super::quota::{held_by_jobs, queue_of, too_much};
use super::{PluginFault, Setup};
use crate::amounts::{Amounts, Missing};
use crate::session::{Eviction, JobIx, Plugin, Point, QueueIx, State, Status, TaskIx, Vote};
use entry::Entry;
pub use entry::share as capacity_share;
use lower::Lower;
use reclaim::Reclaimer;
use std::cmp::Ordering;

/// The switch by which a job is admitted to a queue that is full, as far as
/// jobs of lower priority in it could be evicted for it. Without it nobody is
/// ever evicted in a full queue for a job that says what it needs at least.
pub const ENQUEUE_BY_PRIORITY: &str = "enqueueByPriority";

/// Keeps each queue within its capability, and what is guaranteed to others
/// free; lets it reclaim what it deserves. In a tree, a queue is held to the
/// limits of all that it is a part of.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    hierarchy: bool,
    /// How many levels above its queue a task may rely on what an ancestor
    /// deserves.
    ancestor_level: usize,
    queues: Vec<Entry>,
    /// What jobs of lower priority could yield to those that are to be
    /// admitted, where that counts.
    lower: Option<Lower>,
    /// Why the tree is none, if it is none.
    fault: Option<String>,
}

impl Capacity {
    /// With `enableHierarchy`, `ancestorReclaimLevel` (0; below 0 is 0) and
    /// `enqueueByPriority` of `[batch:capacity]`.
    ///
    /// # Errors
    /// An argument that cannot be used.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let level = setup.arguments.number("ancestorReclaimLevel", 0)?.max(0);
        let by_priority = setup.arguments.switch(ENQUEUE_BY_PRIORITY, false)?;
        Ok(Self {
            hierarchy: setup.hierarchy,
            lower: by_priority.then(Lower::default),
            ancestor_level: usize::try_from(level).unwrap_or(usize::MAX),
            ..Self::default()
        })
    }

    fn at(&self, queue: QueueIx) -> Option<&Entry> {
        self.queues.get(queue.index()).filter(|_| self.fault.is_none())
    }

    /// The queue and all that it is a part of, the nearest first.
    fn line(&self, queue: QueueIx) -> impl Iterator<Item = &Entry> {
        let own = self.at(queue);
        let above = own.into_iter().flat_map(|own| own.path.iter().rev());
        own.into_iter().chain(above.filter_map(|queue| self.at(*queue)))
    }

    /// What jobs of lower priority in its queue could yield to a job.
    fn yielded(&self, state: &State, job: JobIx) -> Amounts {
        let at = &state[job];
        let evicts = at.tasks.iter().any(|task| state[*task].may_preempt);
        let lower = self.lower.as_ref().filter(|_| evicts);
        lower.map(|lower| lower.than(at.queue, at.priority)).unwrap_or_default()
    }

    fn change(&mut self, state: &State, task: TaskIx, change: fn(&mut Amounts, &Amounts)) {
        let queue = queue_of(state, task);
        let request = &state.shape_of(task).request;
        self.up(queue, |entry| {
            change(&mut entry.books.allocated, request);
            entry.refresh();
        });
    }

    /// Does something to a queue and to all that it is a part of.
    fn up(&mut self, queue: QueueIx, mut act: impl FnMut(&mut Entry)) {
        let Some(own) = self.queues.get_mut(queue.index()) else { return };
        act(own);
        let path = std::mem::take(&mut own.path);
        for above in &path {
            self.queues.get_mut(above.index()).into_iter().for_each(&mut act);
        }
        if let Some(own) = self.queues.get_mut(queue.index()) {
            own.path = path;
        }
    }

    /// How many queues from the root on two queues are a part of together.
    fn common(&self, a: QueueIx, b: QueueIx) -> usize {
        let (Some(left), Some(right)) = (self.at(a), self.at(b)) else { return 0 };
        left.path.iter().zip(&right.path).take_while(|(a, b)| a == b).count()
    }

    /// What decides between two leaves: the shares of the queues in which their
    /// paths part.
    fn share_below(&self, queue: QueueIx, common: usize) -> Option<&Entry> {
        let own = self.at(queue)?;
        own.path.get(common).map_or(Some(own), |above| self.at(*above))
    }
}

impl Plugin for Capacity {
    fn name(&self) -> &'static str {
        "capacity"
    }

    fn points(&self) -> &'static [Point] {
        use Point::{
            Allocatable, Evictable, JobEnqueued, Preemptive, QueueOrder, Reclaimable,
            VictimQueueOrder,
        };
        &[
            QueueOrder,
            VictimQueueOrder,
            JobEnqueued,
            Allocatable,
            Preemptive,
            Reclaimable,
            Evictable,
        ]
    }

    fn open(&mut self, state: &State) {
        if let Some(lower) = &mut self.lower {
            *lower = Lower::of(state);
        }
        let built = if self.hierarchy { build::tree(state) } else { Ok(build::flat(state)) };
        match built {
            Ok(queues) => (self.queues, self.fault) = (queues, None),
            Err(fault) => (self.queues, self.fault) = (Vec::new(), Some(fault)),
        }
    }

    fn queue_order(&self, state: &State, a: QueueIx, b: QueueIx) -> Ordering {
        let by_priority = state[b].priority.cmp(&state[a].priority);
        let (Some(left), Some(right)) = (self.at(a), self.at(b)) else { return by_priority };
        by_priority.then_with(|| right.is_leaf.cmp(&left.is_leaf)).then_with(|| {
            let common = if left.is_leaf { self.common(a, b) } else { usize::MAX };
            match (self.share_below(a, common), self.share_below(b, common)) {
                (Some(left), Some(right)) => left.order(right),
                _ => Ordering::Equal,
            }
        })
    }

    fn victim_queue_order(
        &self,
        _state: &State,
        a: QueueIx,
        b: QueueIx,
        preemptor: QueueIx,
    ) -> Ordering {
        self.common(b, preemptor).cmp(&self.common(a, preemptor))
    }

    fn allocatable(&self, state: &State, queue: QueueIx, task: TaskIx) -> bool {
        let request = &state.shape_of(task).request;
        let is_leaf = self.at(queue).is_some_and(|entry| entry.is_leaf);
        let mut line = self.line(queue);
        is_leaf
            && state[queue].open
            && line.all(|entry| entry.books.takes(request, &entry.real_capability))
    }

    fn queue_objection(&self, state: &State, queue: QueueIx, task: TaskIx) -> Option<String> {
        if let Some(fault) = &self.fault {
            return Some(fault.clone());
        }
        let request = &state.shape_of(task).request;
        let path = self.at(queue)?.path.iter().rev();
        let mut line = [&queue].into_iter().chain(path);
        line.find_map(|queue| {
            let entry = self.at(*queue)?;
            too_much(state, *queue, &entry.books, request, &entry.real_capability)
        })
    }

    fn preemptive(&self, state: &State, queue: QueueIx, tasks: &[TaskIx]) -> bool {
        let request = &state.asked_by(tasks);
        let Some(own) = self.at(queue).filter(|_| state[queue].open) else { return false };
        own.books.takes(request, &own.real_capability)
            && self
                .line(queue)
                .take(self.ancestor_level.saturating_add(1))
                .filter(|entry| !entry.is_root)
                .any(|entry| entry.is_below_deserved(request))
    }

    fn reclaimable(
        &mut self,
        state: &State,
        reclaimer: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        let reclaimer = Reclaimer {
            queue: queue_of(state, reclaimer),
            request: &state.shape_of(reclaimer).request,
            only_useful: true,
        };
        Some(reclaim::victims(self, state, &reclaimer, candidates))
    }

    fn evictable(
        &mut self,
        state: &State,
        eviction: Eviction,
        preemptor: JobIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        if eviction == Eviction::Preempt {
            return Some(candidates.to_vec());
        }
        let waits = |task: &&TaskIx| state[**task].status == Status::Pending;
        let request = state.asked_by(state[preemptor].tasks.iter().filter(waits));
        let queue = state[preemptor].queue;
        let reclaimer = Reclaimer { queue, request: &request, only_useful: false };
        Some(reclaim::victims(self, state, &reclaimer, candidates))
    }

    fn job_enqueueable(&self, state: &State, job: JobIx) -> Vote {
        let at = &state[job];
        if !state[at.queue].open || self.fault.is_some() {
            return Vote::Reject;
        }
        let Some(least) = &at.min_resources else { return Vote::Permit };
        let yielded = self.yielded(state, job);
        let admits =
            |entry: &Entry| entry.books.admits_beside(least, &entry.real_capability, &yielded);
        if self.line(at.queue).all(admits) { Vote::Permit } else { Vote::Reject }
    }

    fn enqueue_objection(&self, state: &State, job: JobIx) -> Option<String> {
        let at = &state[job];
        if !state[at.queue].open {
            return Some(format!("queue {} is not open", state[at.queue].name));
        }
        if let Some(fault) = &self.fault {
            return Some(fault.clone());
        }
        let least = at.min_resources.as_ref()?;
        let yielded = self.yielded(state, job);
        let own = self.at(at.queue)?;
        let names = std::iter::once(&at.queue).chain(own.path.iter().rev());
        let (queue, entry) = names.zip(self.line(at.queue)).find(|(_, entry)| {
            !entry.books.admits_beside(least, &entry.real_capability, &yielded)
        })?;
        let dims = state.world.dims();
        let short = least.positive().filter_map(|(dim, asked)| {
            let books = &entry.books;
            let (held, promised) = (books.allocated.get(dim), books.inqueue.get(dim));
            let spare = books.elastic.get(dim).saturating_add(yielded.get(dim));
            let limit = entry.real_capability.get(dim);
            (held + promised - spare + asked > limit).then(|| {
                format!(
                    "of {limit} {} {held} are held and {promised} promised, {asked} are asked for",
                    dims.name(dim)
                )
            })
        });
        let short: Vec<String> = short.collect();
        Some(format!("queue {}: {}", state[*queue].name, short.join(", ")))
    }

    fn job_enqueued(&mut self, state: &State, job: JobIx) {
        let at = &state[job];
        if let Some(least) = &at.min_resources {
            self.up(at.queue, |entry| entry.books.inqueue.add(least));
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
            let queue = state[job].queue;
            for at in self.at(queue)?.path.iter().chain([&queue]) {
                fresh.get_mut(at.index())?.add(&held[job.index()]);
            }
        }
        let differs = |(entry, fresh): &(&Entry, &Amounts)| {
            let share = entry::share(fresh, &entry.deserved);
            !entry.books.allocated.equals(fresh, Missing::Zero) || entry.share != share
        };
        let (entry, fresh) = self.queues.iter().zip(&fresh).find(differs)?;
        Some(format!("a queue holds {fresh:?} and not {:?}", entry.books.allocated))
    }
}

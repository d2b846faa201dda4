//! What plugins may have a say in.

use super::cells::CellShare;
use super::objects::{DomainIx, GroupIx, JobIx, QueueIx, ShapeIx, TaskIx};
use super::places::Occupied;
use super::point::Point;
use super::shape::Shape;
use super::state::State;
use super::votes::Eviction;
use crate::world::World;
use std::cmp::Ordering;
use stowplan_engine::fault::Fault;
use stowplan_engine::weigher::LocalScore;
use stowplan_engine::{HostIx, HostSet};

/// A vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// No, and nobody else is asked.
    Reject,
    /// No opinion.
    Abstain,
    /// Yes, unless somebody of the tier says no.
    Permit,
}

/// Why something does not hold: a short reason and a sentence with numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// A word for it, such as `NotEnoughTasks`.
    pub reason: &'static str,
    /// What exactly, with numbers.
    pub message: String,
}

/// What a predicate says of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostVerdict {
    /// It may be taken.
    Passes,
    /// It may be taken once other tasks have left it.
    Unschedulable,
    /// It may not be taken, whoever leaves.
    Unresolvable,
}

/// What a plugin's predicate knows of a shape.
pub trait NodePredicate: Send {
    /// Narrows hosts to those that no change within this session lets pass or
    /// fail otherwise.
    ///
    /// # Errors
    /// A host that cannot be judged.
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault>;

    /// What it says of a host as it is now, beyond what [`Self::narrow`] said.
    ///
    /// # Errors
    /// A host that cannot be judged.
    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault>;

    /// Whether that depends on the host alone, not on tasks elsewhere.
    fn is_local(&self) -> bool {
        true
    }

    /// Whether that is only about places for tasks, which future room counts as
    /// well: without those of tasks that are on their way out already.
    fn counts_places(&self) -> bool {
        false
    }

    /// Why a host does not pass, in words that are the same for hosts that
    /// fail for the same reason; none when it passes.
    ///
    /// # Errors
    /// A host that cannot be judged.
    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault>;
}

/// A score that depends on all hosts that are compared (rule 8).
pub trait SetScore: Send {
    /// Adds its scores to those of the hosts.
    fn add(&self, state: &State, hosts: &[HostIx], scores: &mut [f64]);
}

/// The score of a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DomainScore {
    /// What it is worth by itself.
    pub score: f64,
    /// What is added to that where several share the highest.
    pub among_equals: f64,
}

/// A score that depends on one host and the shape of a request alone (rule 8).
pub type Score = dyn LocalScore<World, Shape>;

/// A plugin of a session. Everything has a default that says nothing; what a
/// plugin does say is listed in [`Plugin::points`].
pub trait Plugin: Send {
    /// Its name in `[batch] tiers`.
    fn name(&self) -> &'static str;

    /// The points at which it wants to be asked.
    fn points(&self) -> &'static [Point];

    /// Prepares for a session.
    fn open(&mut self, _state: &State) {}

    /// The session ends.
    fn close(&mut self, _state: &State) {}

    /// Which of two queues is served first (`Less` is first).
    fn queue_order(&self, _state: &State, _a: QueueIx, _b: QueueIx) -> Ordering {
        Ordering::Equal
    }

    /// Of two queues, from which others are evicted first (`Less` is first).
    /// It may give an order that is not the reverse of [`Self::queue_order`].
    fn victim_queue_order(
        &self,
        _state: &State,
        _a: QueueIx,
        _b: QueueIx,
        _preemptor: QueueIx,
    ) -> Ordering {
        Ordering::Equal
    }

    /// Which of two jobs is served first.
    fn job_order(&self, _state: &State, _a: JobIx, _b: JobIx) -> Ordering {
        Ordering::Equal
    }

    /// Which of two tasks is placed first.
    fn task_order(&self, _state: &State, _a: TaskIx, _b: TaskIx) -> Ordering {
        Ordering::Equal
    }

    /// Why a job cannot be placed whatever room there is.
    fn job_valid(&self, _state: &State, _job: JobIx) -> Option<Objection> {
        None
    }

    /// Whether a job has its minimum.
    fn job_ready(&self, _state: &State, _job: JobIx) -> bool {
        true
    }

    /// Whether a job has its minimum once others have left.
    fn job_pipelined(&self, _state: &State, _job: JobIx) -> Vote {
        Vote::Abstain
    }

    /// Whether a job may be admitted.
    fn job_enqueueable(&self, _state: &State, _job: JobIx) -> Vote {
        Vote::Abstain
    }

    /// Why a job may not be admitted, with numbers, where the plugin rejects it.
    fn enqueue_objection(&self, _state: &State, _job: JobIx) -> Option<String> {
        None
    }

    /// A job was admitted.
    fn job_enqueued(&mut self, _state: &State, _job: JobIx) {}

    /// Which of two sub-groups of a job is placed first.
    fn group_order(&self, _state: &State, _job: JobIx, _a: GroupIx, _b: GroupIx) -> Ordering {
        Ordering::Equal
    }

    /// Whether a sub-group has its minimum.
    fn group_ready(&self, _state: &State, _job: JobIx, _group: GroupIx) -> bool {
        true
    }

    /// Whether a sub-group has its minimum once others have left.
    fn group_pipelined(&self, _state: &State, _job: JobIx, _group: GroupIx) -> Vote {
        Vote::Abstain
    }

    /// Whether others may be evicted for a job.
    fn job_starving(&self, _state: &State, _job: JobIx) -> bool {
        false
    }

    /// Whether a queue has all that it deserves.
    fn overused(&self, _state: &State, _queue: QueueIx) -> bool {
        false
    }

    /// Whether a queue may take what a task asks for.
    fn allocatable(&self, _state: &State, _queue: QueueIx, _task: TaskIx) -> bool {
        true
    }

    /// Why it may not, in words.
    fn queue_objection(&self, _state: &State, _queue: QueueIx, _task: TaskIx) -> Option<String> {
        None
    }

    /// Whether a queue may take from others for tasks, for all of them
    /// together.
    fn preemptive(&self, _state: &State, _queue: QueueIx, _tasks: &[TaskIx]) -> bool {
        true
    }

    /// Which of these may leave for a task of their own queue, in the order
    /// given; none: no opinion.
    fn preemptable(
        &mut self,
        _state: &State,
        _preemptor: TaskIx,
        _candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        None
    }

    /// Which of these may leave for a task of another queue, in the order
    /// given; none: no opinion.
    fn reclaimable(
        &mut self,
        _state: &State,
        _reclaimer: TaskIx,
        _candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        None
    }

    /// Which of these may leave for a job as a whole, in the order given; none:
    /// no opinion.
    fn evictable(
        &mut self,
        _state: &State,
        _eviction: Eviction,
        _preemptor: JobIx,
        _candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        None
    }

    /// Whether gangs may be evicted as wholes, so that their minima are no
    /// obstacle (rule 15b).
    fn takes_whole_gangs(&self) -> bool {
        false
    }

    /// What decides which hosts tasks of a shape may go to.
    ///
    /// # Errors
    /// A shape that cannot be judged.
    fn predicates(
        &self,
        _state: &State,
        _shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        Ok(Vec::new())
    }

    /// The host that a plan for the whole job gives a task. No other is looked
    /// at then, and what the task's hint prefers does not count.
    fn planned(&self, _state: &State, _task: TaskIx) -> Option<HostIx> {
        None
    }

    /// Its score of hosts.
    fn score(&self) -> Option<&Score> {
        None
    }

    /// Its scores of hosts for a shape that depend on all of them; none that
    /// would be the same for all.
    fn set_scores(&self, _state: &State, _shape: ShapeIx) -> Vec<Box<dyn SetScore>> {
        Vec::new()
    }

    /// Its score of hosts for one task, where it is not the same for all tasks
    /// of a shape; none that would be the same for all hosts.
    fn task_score(&self, _state: &State, _task: TaskIx) -> Option<Box<dyn SetScore>> {
        None
    }

    /// Which of the running tasks should leave their hosts, whoever comes after
    /// them (action shuffle).
    fn victim_tasks(&mut self, _state: &State, _running: &[TaskIx]) -> Vec<TaskIx> {
        Vec::new()
    }

    /// How many microseconds must have passed before it is asked for such tasks
    /// again; none: it never names any.
    fn victim_period(&self) -> Option<i64> {
        None
    }

    /// Which of the tasks that other plugins want to leave may do so, in the
    /// order given (action shuffle).
    fn lets_go(&mut self, _state: &State, victims: Vec<TaskIx>) -> Vec<TaskIx> {
        victims
    }

    /// The NUMA cells of its host that a task was given; none: any.
    fn cells(&self, _task: TaskIx) -> Vec<CellShare> {
        Vec::new()
    }

    /// How well domains suit a sub-group, one after the other; none: no
    /// opinion.
    fn domain_scores(
        &self,
        _state: &State,
        _job: JobIx,
        _group: GroupIx,
        _domains: &[DomainIx],
    ) -> Option<Vec<DomainScore>> {
        None
    }

    /// How many domains are looked at in vain before evictions for a job or
    /// sub-group are given up; none: no opinion.
    fn most_domains(&self) -> Option<usize> {
        None
    }

    /// Whether it has scores of hosts by where they are.
    fn scores_places(&self) -> bool {
        false
    }

    /// What the place of hosts adds to their scores for a task, cell after
    /// cell; none: nothing, or the same for all.
    fn place_scores(&self, _state: &State, _task: TaskIx, _cells: &[Occupied]) -> Option<Vec<f64>> {
        None
    }

    /// A task has got a host, for now.
    fn allocated(&mut self, _state: &State, _task: TaskIx) {}

    /// A task has lost its host.
    fn deallocated(&mut self, _state: &State, _task: TaskIx) {}

    /// Hosts were read anew: what they have and what others hold there may be
    /// something else than steps have told.
    fn refreshed(&mut self, _state: &State) {}

    /// What of its sums differs from counting afresh, in words: for tests and
    /// debug builds.
    fn audit(&self, _state: &State) -> Option<String> {
        None
    }
}

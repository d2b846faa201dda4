//! What plugins may have a say in.

use super::objects::{JobIx, QueueIx, Shape, ShapeIx, TaskIx};
use super::state::State;
use crate::world::World;
use std::cmp::Ordering;
use stowplan_engine::fault::Fault;
use stowplan_engine::weigher::LocalScore;
use stowplan_engine::{HostIx, HostSet};

/// A point at which plugins are asked. Each can be switched off per plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// Which queue is served first: first answer that is not equal.
    QueueOrder,
    /// Which job is served first: likewise.
    JobOrder,
    /// Which task of a job is placed first: likewise.
    TaskOrder,
    /// Whether a job can be placed at all: the first objection counts.
    JobValid,
    /// Whether a job has its minimum: all must agree.
    JobReady,
    /// Whether a job has its minimum once others have left: votes.
    JobPipelined,
    /// Which hosts a task may go to: all must agree.
    Predicate,
    /// How well a host suits: the sum of all.
    NodeOrder,
}

impl Point {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::QueueOrder,
        Self::JobOrder,
        Self::TaskOrder,
        Self::JobValid,
        Self::JobReady,
        Self::JobPipelined,
        Self::Predicate,
        Self::NodeOrder,
    ];

    /// The switch in `[batch:<plugin>]` that turns it off (the peer's name).
    #[must_use]
    pub const fn switch(self) -> &'static str {
        match self {
            Self::QueueOrder => "enableQueueOrder",
            Self::JobOrder => "enableJobOrder",
            Self::TaskOrder => "enableTaskOrder",
            Self::JobValid => "enableJobValid",
            Self::JobReady => "enableJobReady",
            Self::JobPipelined => "enableJobPipelined",
            Self::Predicate => "enablePredicate",
            Self::NodeOrder => "enableNodeOrder",
        }
    }
}

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

/// What a plugin's predicate knows of a shape.
pub trait NodePredicate: Send {
    /// Narrows hosts to those that no change within this session lets pass or
    /// fail otherwise.
    ///
    /// # Errors
    /// A host that cannot be judged.
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault>;

    /// Whether a host passes as it is now, beyond what [`Self::narrow`] said.
    ///
    /// # Errors
    /// A host that cannot be judged.
    fn passes_now(&self, world: &World, host: HostIx) -> Result<bool, Fault>;

    /// Why a host does not pass, in words that are the same for hosts that
    /// fail for the same reason; none when it passes.
    ///
    /// # Errors
    /// A host that cannot be judged.
    fn objection(&self, world: &World, host: HostIx) -> Result<Option<String>, Fault>;
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

    /// Which of two queues is served first (`Less` is first).
    fn queue_order(&self, _state: &State, _a: QueueIx, _b: QueueIx) -> Ordering {
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

    /// Which hosts tasks of a shape may go to; none when every host will do.
    ///
    /// # Errors
    /// A shape that cannot be judged.
    fn predicate(
        &self,
        _state: &State,
        _shape: ShapeIx,
    ) -> Result<Option<Box<dyn NodePredicate>>, Fault> {
        Ok(None)
    }

    /// Its score of hosts.
    fn score(&self) -> Option<&Score> {
        None
    }

    /// A task has got a host, for now.
    fn allocated(&mut self, _state: &State, _task: TaskIx) {}

    /// A task has lost its host.
    fn deallocated(&mut self, _state: &State, _task: TaskIx) {}
}

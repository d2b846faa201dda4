//! Where a session hands over what it has decided.

use super::cells::CellShare;
use crate::world::News;
use stowplan_engine::hint::HintOutcome;
use stowplan_model::Uuid;

/// One statement, to be committed as one mutation: all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The statement's number in the session.
    pub statement: u32,
    /// The job.
    pub job: Uuid,
    /// Its tasks with their hosts.
    pub binds: Vec<Bind>,
    /// Tasks of other jobs that have to leave their hosts for it.
    pub evicts: Vec<Evict>,
    /// Tasks of this job that these leave their room to.
    pub nominations: Vec<Nomination>,
}

impl Plan {
    /// Whether tasks leave for nobody in particular (action shuffle).
    #[must_use]
    pub fn is_shuffle(&self) -> bool {
        self.binds.is_empty() && self.nominations.is_empty() && !self.evicts.is_empty()
    }

    /// A word for what it does.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        match self.evicts.is_empty() {
            true => "placed",
            false if self.is_shuffle() => "evicted",
            false => "nominated",
        }
    }
}

/// A task that has to leave its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evict {
    /// The task.
    pub task: Uuid,
    /// How often it has been bound.
    pub attempt: i64,
    /// The host: uuid of its compute node.
    pub host: Uuid,
}

/// A task that gets the room that others leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nomination {
    /// The task.
    pub task: Uuid,
    /// How often it was bound before.
    pub attempt: i64,
    /// The host: uuid of its compute node.
    pub host: Uuid,
}

/// A task with the host that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// The task.
    pub task: Uuid,
    /// How often it was bound before.
    pub attempt: i64,
    /// The host: uuid of its compute node.
    pub host: Uuid,
    /// What it takes.
    pub takes: Vec<Take>,
    /// The NUMA cells that it gets; none: any.
    pub cells: Vec<CellShare>,
    /// What became of its hint, if it has one.
    pub hint: Option<HintOutcome>,
}

/// Units of a resource class taken from one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    /// The provider.
    pub provider: Uuid,
    /// The class.
    pub class: String,
    /// Units.
    pub amount: i64,
}

/// What became of a statement.
pub struct Outcome {
    /// The statement's number.
    pub statement: u32,
    /// Committed, or why not.
    pub result: Result<(), Refused>,
}

/// Why a statement was not committed.
pub struct Refused {
    /// In words.
    pub reason: String,
    /// What hosts have now, if trying again makes sense.
    pub news: Option<Box<dyn News + Send>>,
}

/// Takes statements without making the session wait (rule 9).
pub trait Commits {
    /// Hands over a statement.
    fn submit(&mut self, plan: Plan);

    /// The next outcome that is known; with `wait`, of any that is under way.
    /// None when there is none.
    fn outcome(&mut self, wait: bool) -> Option<Outcome>;
}

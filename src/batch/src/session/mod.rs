//! One cycle: a state, plugins in tiers, actions that run on them.
//!
//! A session knows no clock, no randomness and no database: what it decides it
//! hands over through [`Commits`], and time is a number it was given.

mod close;
mod commits;
mod explain;
mod finder;
mod heap;
mod objects;
mod plugin;
mod state;
mod statement;
mod tiers;

pub use close::{Closed, Condition, ConditionKind, Verdict};
pub use commits::{Bind, Commits, Outcome, Plan, Refused, Take};
pub use heap::Heap;
pub use objects::{
    Census, Job, JobIx, Queue, QueueIx, Role, Shape, ShapeIx, Status, Task, TaskIx, Toleration,
    TolerationOperator,
};
pub use plugin::{NodePredicate, Objection, Plugin, Point, Score, Vote};
pub use state::State;
pub use statement::Statement;
pub use tiers::{Seat, Tiers};

use finder::Finder;
use foldhash::{HashMap, HashMapExt};
use stowplan_engine::HostIx;
use stowplan_engine::fault::Fault;

/// Bounds of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// How often a job whose statement was refused is tried again in the same
    /// cycle (`[batch] commit_retries`).
    pub commit_retries: u32,
    /// Whether the action enqueue runs; if not, allocate admits jobs itself.
    pub enqueues: bool,
}

/// A cycle in the making.
pub struct Session<'a> {
    /// What there is.
    pub state: State,
    /// Who has a say.
    pub tiers: Tiers,
    options: SessionOptions,
    commits: &'a mut dyn Commits,
    finder: Finder,
    kept: Vec<Statement>,
    under_way: HashMap<u32, Statement>,
    next_statement: u32,
    binds: usize,
}

impl<'a> Session<'a> {
    /// Opens a session; every plugin prepares itself.
    #[must_use]
    pub fn open(
        state: State,
        mut tiers: Tiers,
        options: SessionOptions,
        commits: &'a mut dyn Commits,
    ) -> Self {
        tiers.open(&state);
        Self {
            state,
            tiers,
            options,
            commits,
            finder: Finder::new(),
            kept: Vec::new(),
            under_way: HashMap::new(),
            next_statement: 0,
            binds: 0,
        }
    }

    /// Its bounds.
    #[must_use]
    pub fn options(&self) -> SessionOptions {
        self.options
    }

    /// Whether a job has its minimum.
    #[must_use]
    pub fn is_ready(&self, job: JobIx) -> bool {
        self.tiers.job_ready(&self.state, job)
    }

    /// Whether a job has its minimum once others have left.
    #[must_use]
    pub fn is_pipelined(&self, job: JobIx) -> bool {
        self.tiers.job_pipelined(&self.state, job)
    }

    /// The best host for a task now.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn best_host(&mut self, task: TaskIx) -> Result<Option<HostIx>, Fault> {
        let shape = self.state[task].shape;
        self.finder.best(&self.state, &self.tiers, shape)
    }

    /// The best host for a task once others have left.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn best_future_host(&mut self, task: TaskIx) -> Result<Option<HostIx>, Fault> {
        let shape = self.state[task].shape;
        self.finder.best_in_future(&self.state, &self.tiers, shape)
    }
}

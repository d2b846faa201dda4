//! One cycle: a state, plugins in tiers, actions that run on them.
//!
//! A session knows no clock, no randomness and no database: what it decides it
//! hands over through [`Commits`], and time is a number it was given.

mod budget;
mod cells;
mod census;
mod close;
mod commits;
mod domains;
mod explain;
mod finder;
mod gradients;
mod groups;
mod heap;
mod hint;
mod index;
mod objects;
mod places;
mod plugin;
mod point;
mod quota;
mod scoring;
mod selector;
mod shape;
mod state;
mod statement;
mod subgroup;
mod tiers;
mod victims;
mod votes;

pub use budget::{BUDGET_KEYS, Budget, TASK_COUNT, TaskCount};
pub use cells::CellShare;
pub use census::{Census, Status};
pub use close::{Closed, Condition, ConditionKind, Verdict};
pub use commits::{Bind, Commits, Evict, Nomination, Outcome, Plan, Refused, Take};
pub use domains::{Domain, DomainInput, Domains, Purpose, TOP};
pub use explain::why_not;
pub use finder::Place;
pub use groups::NodeGroups;
pub use heap::Heap;
pub use hint::preferred;
pub use objects::{
    CellIx, DomainIx, GroupIx, Job, JobIx, Queue, QueueIx, Role, ShapeIx, Task, TaskIx,
};
pub use places::Occupied;
pub use plugin::{
    DomainScore, HostVerdict, NodePredicate, Objection, Plugin, Score, SetScore, Vote,
};
pub use point::Point;
pub use quota::Quota;
pub use scoring::scores;
pub use selector::{Expression, Labels, NodeTerm, Operator, Selector};
pub use shape::{
    HOST_NOTES, HostPort, Shape, Spread, TaskTerm, Toleration, TolerationOperator, Wishes,
    host_notes,
};
pub use state::{Diary, Shard, State};
pub use statement::{Replay, Statement};
pub use subgroup::{GroupPolicy, SubGroup, Tier, Topology};
pub use tiers::{Seat, Tiers, task_number};
pub use votes::{Ballot, Disagreement, Eviction, elect};

use crate::life::JobPhase;
use finder::Finder;
use foldhash::{HashMap, HashMapExt};
use hint::First;
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
    /// Preferred hosts of a hint that are looked at, at most (`[scheduler]
    /// max_hint_nodes`).
    pub max_hint_nodes: usize,
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
        mut state: State,
        mut tiers: Tiers,
        options: SessionOptions,
        commits: &'a mut dyn Commits,
    ) -> Self {
        state.locate_all();
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

    /// Admits a job.
    pub fn admit(&mut self, job: JobIx) {
        self.tiers.job_enqueued(&self.state, job);
        self.state.job_mut(job).phase = JobPhase::Inqueue;
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

    /// The host for a task: one with room now, else one where others are
    /// leaving. A plan for its job, a nomination and its hint go before scores.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn best_host(&mut self, task: TaskIx) -> Result<Option<Place>, Fault> {
        self.find(task, None)
    }

    /// The same among the hosts of a domain.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn best_host_in(&mut self, task: TaskIx, domain: DomainIx) -> Result<Option<Place>, Fault> {
        self.find(task, Some(domain))
    }

    fn find(&mut self, task: TaskIx, within: Option<DomainIx>) -> Result<Option<Place>, Fault> {
        let first = First {
            planned: self.tiers.planned(&self.state, task),
            nominated: self.state[task].nominated,
            max_hint_nodes: self.options.max_hint_nodes,
            within,
        };
        let found = self.finder.find(&self.state, &self.tiers, task, first)?;
        self.state.note_hint(task, found.hint);
        Ok(found.place)
    }

    /// The best host of a domain on which a task can be promised room: of those
    /// that have it now, else of those that will have it. Places for tasks count
    /// as room does: those of tasks that leave are free.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn future_host_in(
        &mut self,
        task: TaskIx,
        domain: DomainIx,
    ) -> Result<Option<HostIx>, Fault> {
        self.finder.future_in(&self.state, &self.tiers, task, domain)
    }

    /// Hosts that a task could go to if others left them, in order of name.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn hosts_after_evictions(&mut self, task: TaskIx) -> Result<Vec<HostIx>, Fault> {
        let shape = self.state[task].shape;
        self.finder.after_evictions(&self.state, &self.tiers, shape)
    }

    /// Whether a task can be promised room on a host: there will be enough, and
    /// the host lets it in. `counting` tasks that are on their way out takes
    /// their places for taken, as predicates do.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn could_go(&mut self, task: TaskIx, host: HostIx, counting: bool) -> Result<bool, Fault> {
        let shape = self.state[task].shape;
        let looked_at = |predicate: &dyn NodePredicate| counting || !predicate.counts_places();
        Ok(self.state.world.fits_future(host, self.state[shape].ask())
            && self.finder.passes(&self.state, &self.tiers, (shape, host), looked_at)?)
    }

    /// Whether the tasks that are elsewhere now let a task go to a host.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn passes_others(&mut self, task: TaskIx, host: HostIx) -> Result<bool, Fault> {
        let at = (self.state[task].shape, host);
        self.finder.passes(&self.state, &self.tiers, at, |predicate| !predicate.is_local())
    }

    /// What predicates say of a task on a host, room apart.
    ///
    /// # Errors
    /// A task or host that cannot be judged.
    pub fn verdict_of(&mut self, task: TaskIx, host: HostIx) -> Result<HostVerdict, Fault> {
        let shape = self.state[task].shape;
        self.finder.verdict(&self.state, &self.tiers, shape, host)
    }
}

//! Queues, jobs and tasks as a session knows them.

use super::budget::Budget;
use super::cells::CellShare;
use super::census::{Census, Status};
use super::groups::NodeGroups;
use super::subgroup::{GroupPolicy, SubGroup, Topology};
use crate::amounts::{Amounts, DimIx};
use crate::life::JobPhase;
use crate::world::Picks;
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_engine::HostIx;
use stowplan_engine::hint::HintOutcome;
use stowplan_model::{Micros, Uuid};

macro_rules! numbers {
    ($($(#[doc = $about:literal])+ $name:ident,)+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

numbers! {
    /// A queue by its number in one session.
    QueueIx,
    /// A job by its number in one session.
    JobIx,
    /// A task by its number in one session.
    TaskIx,
    /// A shape of request by its number in one session.
    ShapeIx,
    /// A topology domain by its number in one session: narrow ones before wide
    /// ones, those of a tier by name.
    DomainIx,
    /// Hosts that are in the very same domains, by their number in one session.
    CellIx,
    /// A sub-group by its number in its job.
    GroupIx,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// Higher is served first.
    pub priority: i64,
    /// When it was created.
    pub created: Micros,
    /// Whether it takes jobs.
    pub open: bool,
    /// Its part of what queues share, among the others'; 0 for none.
    pub weight: i64,
    /// What it may hold at most; a missing dimension is unlimited, and so is
    /// cpu or memory of 0.
    pub capability: Option<Amounts>,
    /// Up to this it may reclaim, above it others may reclaim from it.
    pub deserved: Amounts,
    /// What is kept free for it or is left to it.
    pub guarantee: Amounts,
    /// Whether others may reclaim from it at all.
    pub reclaimable: bool,
    /// The queue that it is a part of.
    pub parent: Option<String>,
    /// Where it stands in a tree of weights: a path such as `root/eng/prod`.
    pub hierarchy: String,
    /// The weights along that path, such as `1/2/8`.
    pub hierarchy_weights: String,
    /// The groups of hosts that it may use; none: as the queue above it, or
    /// nothing is said.
    pub groups: Option<Arc<NodeGroups>>,
    /// What it may hold at most in single groups of hosts, in the dimensions
    /// that are named.
    pub group_limits: BTreeMap<String, Vec<(DimIx, i64)>>,
}

impl Queue {
    /// An open queue of weight 1 without limits.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            priority: 0,
            created: Micros(0),
            open: true,
            weight: 1,
            capability: None,
            deserved: Amounts::new(),
            guarantee: Amounts::new(),
            reclaimable: true,
            parent: None,
            hierarchy: String::new(),
            hierarchy_weights: String::new(),
            groups: None,
            group_limits: BTreeMap::new(),
        }
    }
}

/// A job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its uuid.
    pub uuid: Uuid,
    /// Namespace and name, as `namespace/name`: the last word in every order.
    pub name: String,
    /// Its queue.
    pub queue: QueueIx,
    /// When it was submitted.
    pub created: Micros,
    /// Higher is served first.
    pub priority: i64,
    /// Its phase.
    pub phase: JobPhase,
    /// How many tasks must have a place for any to run.
    pub min_available: u32,
    /// What must be within its queue's limits for it to be admitted; none: it
    /// is admitted without a look.
    pub min_resources: Option<Amounts>,
    /// Free texts that plugins read.
    pub annotations: Arc<BTreeMap<String, String>>,
    /// How many of its tasks others may take off their hosts; none: nothing is
    /// said.
    pub budget: Option<Budget>,
    /// Whether actions see it. One that is not listed only keeps its hosts'
    /// room: its queue is not known.
    pub listed: bool,
    /// Its roles, by number.
    pub roles: Vec<Role>,
    /// How near to each other its tasks have to be.
    pub topology: Option<Topology>,
    /// What divides its tasks into sub-groups.
    pub policies: Vec<GroupPolicy>,
    /// Its sub-groups, by number; none where neither a topology nor policies
    /// ask for them.
    pub groups: Vec<SubGroup>,
    /// The narrowest domain that holds all of its tasks that have a place.
    pub placed: Option<DomainIx>,
    /// Its tasks, in order of creation.
    pub tasks: Vec<TaskIx>,
    /// Its tasks by state.
    pub census: Census,
    /// What its allocated tasks hold.
    pub allocated: Amounts,
    /// Roles of which a task found no host in this cycle.
    pub failed_roles: Vec<u32>,
    /// Why its queue could not take one of its tasks in this cycle.
    pub held_back: Option<String>,
    /// How often its statements were refused at commit in this cycle.
    pub refusals: u32,
    /// Why it last was: for its conditions.
    pub refusal: Option<String>,
}

impl Job {
    /// A job without tasks, admitted, of priority 0, that needs none of them.
    #[must_use]
    pub fn named(uuid: Uuid, name: impl Into<String>, queue: QueueIx) -> Self {
        Self {
            uuid,
            name: name.into(),
            queue,
            created: Micros(0),
            priority: 0,
            phase: JobPhase::Pending,
            min_available: 0,
            min_resources: None,
            annotations: Arc::default(),
            budget: None,
            listed: true,
            roles: Vec::new(),
            topology: None,
            policies: Vec::new(),
            groups: Vec::new(),
            placed: None,
            tasks: Vec::new(),
            census: Census::default(),
            allocated: Amounts::new(),
            failed_roles: Vec::new(),
            held_back: None,
            refusals: 0,
            refusal: None,
        }
    }

    /// Its namespace, which is its project.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.name.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The sum of the minima of its roles.
    #[must_use]
    pub fn role_minima(&self) -> u32 {
        self.roles.iter().filter_map(|role| role.min).sum()
    }
}

/// A role of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// How many of its tasks must have a place.
    pub min: Option<u32>,
    /// Its tasks by state.
    pub census: Census,
}

/// A task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its uuid, which is its consumer's.
    pub uuid: Uuid,
    /// Its name, `role/index` as a rule.
    pub name: String,
    /// Its job.
    pub job: JobIx,
    /// Its role in the job, by number.
    pub role: u32,
    /// Its sub-group in the job, where that has any.
    pub group: GroupIx,
    /// The whole number at the end of its name, when the name has at least
    /// three parts: tasks are placed in that order.
    pub number: Option<u64>,
    /// When it was created.
    pub created: Micros,
    /// Higher is placed first.
    pub priority: i64,
    /// What it asks for.
    pub shape: ShapeIx,
    /// Its state.
    pub status: Status,
    /// How often it has been bound.
    pub attempt: i64,
    /// Whether it may be taken off its host for others.
    pub preemptable: bool,
    /// Whether it may take others off their hosts.
    pub may_preempt: bool,
    /// Whether nothing at all may take it off its host.
    pub protected: bool,
    /// Free texts that plugins read: its role's annotations and, where these do
    /// not say the same key, labels.
    pub notes: Arc<BTreeMap<String, String>>,
    /// The NUMA cells of its host that it was given before this session.
    pub cells: Vec<CellShare>,
    /// Since when it runs, as far as that is known.
    pub started: Option<Micros>,
    /// Its host.
    pub host: Option<HostIx>,
    /// From where it took what it has, or is promised: what it took in this
    /// cycle, and on hosts with devices what it had before.
    pub picks: Picks,
    /// The host that others were made to leave for it, where a scenario says
    /// so: it is tried before all others.
    pub nominated: Option<HostIx>,
    /// What became of its hint when a host was last looked for.
    pub hint: Option<HintOutcome>,
}

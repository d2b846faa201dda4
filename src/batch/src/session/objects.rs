//! Queues, jobs and tasks as a session knows them.

use crate::amounts::Amounts;
use crate::life::{JobPhase, TaskState};
use crate::world::Picks;
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_engine::HostIx;
use stowplan_model::host::TaintEffect;
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
}

/// The state of a task within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Waits for a host.
    Pending,
    /// Has got a host in this cycle; not handed over yet.
    Allocated,
    /// Has got a host in this cycle where others are leaving.
    Pipelined,
    /// Handed over to be committed.
    Binding,
    /// Holds its room.
    Bound,
    /// Runs.
    Running,
    /// Is leaving its host.
    Releasing,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
    /// Nobody knows.
    Unknown,
}

impl Status {
    /// How many there are.
    pub const COUNT: usize = 10;

    /// Whether the task counts as having its place.
    #[must_use]
    pub const fn is_allocated(self) -> bool {
        matches!(self, Self::Allocated | Self::Binding | Self::Bound | Self::Running)
    }
}

impl From<TaskState> for Status {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Pending => Self::Pending,
            TaskState::Bound => Self::Bound,
            TaskState::Running => Self::Running,
            TaskState::Releasing => Self::Releasing,
            TaskState::Succeeded => Self::Succeeded,
            TaskState::Unknown => Self::Unknown,
            // A cancelled task of an open job is as good as failed: it will
            // not come back.
            TaskState::Failed | TaskState::Cancelled => Self::Failed,
        }
    }
}

/// How many tasks are in which state; pending best-effort ones apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    by_status: [u32; Status::COUNT],
    best_effort: u32,
}

impl Census {
    /// How many are in a state; among the pending, best-effort ones too.
    #[must_use]
    pub const fn get(&self, status: Status) -> u32 {
        self.by_status[status as usize]
    }

    /// Pending tasks that ask for nothing.
    #[must_use]
    pub const fn best_effort(&self) -> u32 {
        self.best_effort
    }

    /// How many there are.
    #[must_use]
    pub fn all(&self) -> u32 {
        self.by_status.iter().sum()
    }

    /// Allocated ones and those that ended well.
    #[must_use]
    pub fn ready(&self) -> u32 {
        let states =
            [Status::Allocated, Status::Binding, Status::Bound, Status::Running, Status::Succeeded];
        states.iter().map(|status| self.get(*status)).sum()
    }

    /// Whether all that is left of a job is leaving: it is not short of room
    /// then, only on its way out.
    #[must_use]
    pub fn is_leaving(&self, min_available: u32) -> bool {
        let waits = self.get(Status::Pending) + self.get(Status::Pipelined);
        let scheduled = self.ready() + self.get(Status::Failed) + self.get(Status::Releasing);
        self.get(Status::Releasing) > 0 && waits == 0 && scheduled >= min_available
    }

    pub(super) fn count(&mut self, status: Status, best_effort: bool, change: i32) {
        let slot = &mut self.by_status[status as usize];
        *slot = slot.saturating_add_signed(change);
        if best_effort && status == Status::Pending {
            self.best_effort = self.best_effort.saturating_add_signed(change);
        }
    }
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
    /// Its roles, by number.
    pub roles: Vec<Role>,
    /// Its tasks, in order of creation.
    pub tasks: Vec<TaskIx>,
    /// Its tasks by state.
    pub census: Census,
    /// What its allocated tasks hold.
    pub allocated: Amounts,
    /// Roles of which a task found no host in this cycle.
    pub failed_roles: Vec<u32>,
    /// How often its statements were refused at commit in this cycle.
    pub refusals: u32,
    /// Why it last was: for its conditions.
    pub refusal: Option<String>,
}

impl Job {
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
    /// Its host.
    pub host: Option<HostIx>,
    /// What it took in this cycle, and from where.
    pub picks: Picks,
}

/// All of a request that hosts are judged by: tasks of one shape fit on the
/// same hosts and score alike there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What it is charged.
    pub request: Amounts,
    /// Labels that the host must have.
    pub node_selector: Arc<BTreeMap<String, String>>,
    /// Taints that it tolerates.
    pub tolerations: Arc<Vec<Toleration>>,
}

impl Shape {
    /// Whether it asks for nothing but a place.
    #[must_use]
    pub fn is_best_effort(&self) -> bool {
        self.request.is_empty()
    }
}

/// Which taints a task tolerates, as Kubernetes has it.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    utoipa::ToSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct Toleration {
    /// Key of the taint; empty (with `Exists`) for every key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the value is compared.
    pub operator: TolerationOperator,
    /// The value, for `Equal`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The effect, `NoSchedule` or `NoExecute`; none for every effect.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
}

/// How a toleration compares the value of a taint.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    utoipa::ToSchema,
)]
pub enum TolerationOperator {
    /// The values are equal.
    #[default]
    Equal,
    /// Whatever the value.
    Exists,
}

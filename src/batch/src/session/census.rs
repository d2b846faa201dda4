//! The states of tasks within a session, and how many are in which.

use crate::life::TaskState;

/// The state of a task within a session.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
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

    /// Whether the task is on its host, be it on its way out or not there yet.
    #[must_use]
    pub const fn is_on_host(self) -> bool {
        !matches!(self, Self::Pending | Self::Succeeded | Self::Failed)
    }

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

    /// Counts a task, or takes it out (`change` -1).
    pub(super) fn count(&mut self, status: Status, best_effort: bool, change: i32) {
        let slot = &mut self.by_status[status as usize];
        *slot = slot.saturating_add_signed(change);
        if best_effort && status == Status::Pending {
            self.best_effort = self.best_effort.saturating_add_signed(change);
        }
    }
}

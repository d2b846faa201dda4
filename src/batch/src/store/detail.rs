//! What else the ledger keeps of a task, beside its state.

use crate::session::CellShare;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stowplan_engine::hint::HintOutcome;
use stowplan_ledger::rows::TaskRow;
use stowplan_model::{Micros, Uuid};
use utoipa::ToSchema;

/// Why a task has to leave its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Its job was cancelled, or has ended in another way.
    JobEnded,
    /// Its job was suspended.
    Suspended,
    /// Its job was put back into its queue.
    Requeued,
    /// Another task of its job failed, and the job starts anew.
    JobRestarted,
    /// Its queue is drained.
    Drained,
    /// It ran longer than its job allows.
    RunLimit,
    /// It was not reported as running in time.
    BindTimeout,
    /// Its job has fewer tasks now.
    Shrunk,
    /// A task of higher priority needs its room.
    Evicted,
    /// Its host is meant for others now, or does too much (action shuffle).
    Shuffled,
    /// A device that it holds is lost, or has less than is held of it.
    DeviceLost,
}

impl Cause {
    /// The cause in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::JobEnded => "the job has ended",
            Self::Suspended => "the job is suspended",
            Self::Requeued => "the job was put back into its queue",
            Self::JobRestarted => "a task of the job failed, and the job starts anew",
            Self::Drained => "the queue is drained",
            Self::RunLimit => "it ran longer than run_limit_s of its job",
            Self::BindTimeout => "it was not reported as running within [batch] bind_timeout",
            Self::Shrunk => "the job has fewer tasks now",
            Self::Evicted => "others need its room",
            Self::Shuffled => "it is to run on another host",
            Self::DeviceLost => "a device that it holds is lost, or has less than is held of it",
        }
    }
}

/// That a task has to leave its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// Why.
    pub cause: Cause,
    /// Since when; anew each time that the executor is told again.
    pub since: Micros,
    /// The task that gets its room, if it leaves for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves_to: Option<Uuid>,
}

/// That tasks have to leave a host for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nomination {
    /// The host: uuid of its compute node.
    pub host: Uuid,
    /// The room is not kept longer.
    pub deadline: Micros,
}

/// That a task was evicted for others, once or in a loop (rule 16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evicted {
    /// How often in a row, none longer after the one before than `[batch]
    /// loop_window`.
    pub count: u32,
    /// When it was last.
    pub last: Micros,
}

impl Evicted {
    /// Evictions in a row after which a task is spared.
    const LOOP: u32 = 2;

    /// With one more eviction.
    #[must_use]
    pub fn once_more(before: Option<Self>, window: i64, now: Micros) -> Self {
        let row = before.filter(|before| now.since(before.last) < window);
        Self { count: row.map_or(0, |row| row.count).saturating_add(1), last: now }
    }

    /// Whether it runs in a loop, and is to be spared for now.
    #[must_use]
    pub fn is_spared(self, window: i64, now: Micros) -> bool {
        self.count >= Self::LOOP && now.since(self.last) < window
    }
}

/// What else there is to a task; nothing of it for most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskDetail {
    /// When this attempt was first reported as running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Micros>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Micros>,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// How often it has been tried again after it failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub retries: u32,
    /// That it was evicted for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evicted: Option<Evicted>,
    /// It is not placed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Micros>,
    /// That it has to leave its host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaving: Option<Leaving>,
    /// The NUMA cells of its host that it was given; none: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numa_cells: Vec<CellShare>,
    /// What became of its hint when it was placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<HintOutcome>,
    /// That others leave a host for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomination: Option<Nomination>,
}

impl TaskDetail {
    /// Of a row. What cannot be read counts as nothing.
    #[must_use]
    pub fn of(row: &TaskRow) -> Self {
        if row.detail.is_null() {
            return Self::default();
        }
        Self::deserialize(&row.detail).unwrap_or_default()
    }

    /// What outlives an attempt.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { retries: self.retries, evicted: self.evicted, ..Self::default() }
    }

    /// The same without a nomination, as a row keeps it.
    #[must_use]
    pub fn without_nomination(row: &TaskRow) -> Value {
        Self { nomination: None, ..Self::of(row) }.value()
    }

    /// As a row keeps it.
    #[must_use]
    pub fn value(&self) -> Value {
        if *self == Self::default() {
            return Value::Null;
        }
        serde_json::to_value(self).unwrap_or_default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Whether a task that waits may be placed by now.
#[must_use]
pub fn is_due(row: &TaskRow, now: Micros) -> bool {
    row.detail.is_null() || TaskDetail::of(row).not_before.is_none_or(|time| time <= now)
}

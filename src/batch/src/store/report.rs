//! What executors say of tasks.

use super::phases::{Draft, state_of};
use crate::life::{JobPhase, TaskState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stowplan_ledger::rows::TaskRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use utoipa::ToSchema;

/// What an executor can say of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum ReportedState {
    /// It runs.
    Running,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It does not run and will not: its room is free.
    Released,
}

/// One report of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskReport {
    /// The task.
    pub task: Uuid,
    /// The attempt that is reported on.
    pub attempt: i64,
    /// What became of it.
    pub state: ReportedState,
    /// Exit code of a task that ended.
    #[serde(default)]
    pub exit_code: Option<i64>,
    /// Anything else there is to say.
    #[serde(default)]
    pub message: Option<String>,
}

/// What became of one report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReportVerdict {
    /// The task.
    pub task: Uuid,
    /// 200: taken in, or known already. 404: no such task. 409: another
    /// attempt, or a state that it cannot come from.
    pub status: u16,
    /// The state that the task is in now; none when there is no such task. A
    /// task that is `Releasing` must be stopped, then reported as released.
    pub state: Option<TaskState>,
    /// Why the report was not taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Takes reports in, in their order, each for itself: a stale one changes
/// nothing and stops no other.
#[must_use]
pub fn report(image: &Image, reports: &[TaskReport], now: Micros) -> (Change, Vec<ReportVerdict>) {
    let mut draft = Draft::new(image, now);
    let mut freed = Vec::new();
    let mut jobs = BTreeSet::new();
    let mut verdicts = Vec::with_capacity(reports.len());
    for report in reports {
        let before = draft.task(report.task).cloned();
        let outcome = before.as_ref().map(|task| next(image, task, report));
        verdicts.push(verdict(report, before.as_ref(), &outcome));
        if let (Some(task), Some(Ok(Some(state)))) = (before, outcome) {
            jobs.insert(task.job);
            if !state.holds() {
                freed.push(task.uuid);
            }
            let task = moved(image, task, state, report);
            draft.put(task);
        }
    }
    let mut change = Change::new("task.report");
    for uuid in freed {
        if image.consumers.get(uuid).is_some() {
            change.push(Record::ConsumerGone(uuid));
        }
    }
    for job in jobs {
        let row = image.batch.jobs.by_id(job).and_then(|job| draft.settle(job));
        change.records.extend(row.map(|row| Record::Job(Box::new(row))));
    }
    change.records.extend(draft.records());
    (change, verdicts)
}

/// The state that a report moves a task to; none when it says nothing new.
fn next(image: &Image, task: &TaskRow, report: &TaskReport) -> Result<Option<TaskState>, String> {
    if report.attempt != task.attempt {
        return Err(format!(
            "attempt is {}: expected {}, the task has been bound so often",
            report.attempt, task.attempt
        ));
    }
    let now = state_of(task);
    let ended = |state| {
        if now == state {
            Ok(None)
        } else if now.holds() {
            Ok(Some(state))
        } else {
            Err(format!("state is {}: the task is {}", state.as_str(), now.as_str()))
        }
    };
    match report.state {
        ReportedState::Running => match now {
            TaskState::Bound | TaskState::Unknown => Ok(Some(TaskState::Running)),
            TaskState::Running | TaskState::Releasing => Ok(None),
            other => Err(format!("state is Running: the task is {}", other.as_str())),
        },
        ReportedState::Succeeded => ended(TaskState::Succeeded),
        ReportedState::Failed => ended(TaskState::Failed),
        // Released twice is as good as once: whatever it held is free.
        ReportedState::Released if !now.holds() => Ok(None),
        ReportedState::Released => {
            let job = image.batch.jobs.by_id(task.job);
            let ended = job.and_then(|job| JobPhase::named(&job.phase));
            let is_over = ended.is_none_or(JobPhase::is_final);
            Ok(Some(if is_over { TaskState::Cancelled } else { TaskState::Pending }))
        }
    }
}

fn moved(image: &Image, task: TaskRow, state: TaskState, report: &TaskReport) -> TaskRow {
    let host = if state.holds() { task.host } else { None };
    let place = task.host.filter(|_| host.is_none()).and_then(|uuid| image.hosts.get(uuid));
    let mut words = Vec::new();
    words.extend(report.exit_code.map(|code| format!("exit code {code}")));
    words.extend(report.message.clone());
    words.extend(place.map(|host| format!("on {}", host.row.node)));
    let reason = (!words.is_empty()).then(|| words.join(", "));
    TaskRow { state: state.as_str().to_owned(), host, reason, ..task }
}

fn verdict(
    report: &TaskReport,
    before: Option<&TaskRow>,
    outcome: &Option<Result<Option<TaskState>, String>>,
) -> ReportVerdict {
    let now = before.map(state_of);
    let (status, state, detail) = match outcome {
        None => (404, None, Some(format!("there is no task {}", report.task))),
        Some(Ok(state)) => (200, state.or(now), None),
        Some(Err(detail)) => (409, now, Some(detail.clone())),
    };
    ReportVerdict { task: report.task, status, state, detail }
}

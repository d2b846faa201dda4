//! What executors say of tasks.

use super::detail::{Cause, TaskDetail};
use super::phases::{Draft, state_of};
use crate::life::TaskState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stowplan_ledger::rows::TaskRow;
use stowplan_ledger::{Change, Image};
use stowplan_model::{Micros, Uuid};
use utoipa::ToSchema;

/// Characters of a message that are kept.
const MAX_MESSAGE: usize = 1000;

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
    /// Anything else there is to say; no more than 1000 characters of it are
    /// kept.
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

/// What a report makes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Starts,
    Succeeds,
    Fails,
    Leaves,
}

/// Takes reports in, in their order, each for itself: a stale one changes
/// nothing and stops no other.
#[must_use]
pub fn report(image: &Image, reports: &[TaskReport], now: Micros) -> (Change, Vec<ReportVerdict>) {
    let mut draft = Draft::new(image, now);
    let mut jobs = BTreeSet::new();
    let mut verdicts = Vec::with_capacity(reports.len());
    for report in reports {
        let before = draft.task(report.task).cloned();
        let step = before.as_ref().map(|task| next(task, report));
        let mut after = before.as_ref().map(state_of);
        if let (Some(task), Some(Ok(Some(step)))) = (before, &step) {
            jobs.insert(task.job);
            let task = moved(&mut draft, task, *step, report);
            after = Some(state_of(&task));
            draft.put(task);
        }
        verdicts.push(verdict(report, after, step));
    }
    let change = draft.finish(Change::new("task.report"), jobs);
    (change, verdicts)
}

/// What a report makes of a task; nothing when it says nothing new.
fn next(task: &TaskRow, report: &TaskReport) -> Result<Option<Step>, String> {
    if report.attempt != task.attempt {
        return Err(format!(
            "attempt is {}: expected {}, the task has been bound so often",
            report.attempt, task.attempt
        ));
    }
    let now = state_of(task);
    let ended = |state: TaskState, step| {
        if now == state {
            Ok(None)
        } else if now.holds() {
            Ok(Some(step))
        } else {
            Err(format!("state is {}: the task is {}", state.as_str(), now.as_str()))
        }
    };
    match report.state {
        ReportedState::Running => match now {
            TaskState::Bound | TaskState::Unknown => Ok(Some(Step::Starts)),
            TaskState::Running | TaskState::Releasing => Ok(None),
            other => Err(format!("state is Running: the task is {}", other.as_str())),
        },
        ReportedState::Succeeded => ended(TaskState::Succeeded, Step::Succeeds),
        // A task that was told to stop has not failed.
        ReportedState::Failed if now == TaskState::Releasing => Ok(Some(Step::Leaves)),
        // What failed before and waits to be tried again is known.
        ReportedState::Failed
            if now == TaskState::Pending && task.detail.get("retries").is_some() =>
        {
            Ok(None)
        }
        ReportedState::Failed => ended(TaskState::Failed, Step::Fails),
        // Released twice is as good as once: whatever it held is free.
        ReportedState::Released if !now.holds() => Ok(None),
        ReportedState::Released => Ok(Some(Step::Leaves)),
    }
}

fn moved(draft: &mut Draft<'_>, task: TaskRow, step: Step, report: &TaskReport) -> TaskRow {
    let mut detail = TaskDetail::of(&task);
    if step == Step::Starts {
        detail.started = detail.started.or(Some(draft.now));
        let (state, reason) = (TaskState::Running.as_str().to_owned(), message(report));
        return TaskRow { state, reason, detail: detail.value(), ..task };
    }
    let reason = Some(words(draft.image, &task, report)).filter(|words| !words.is_empty());
    let (state, retries) = match step {
        Step::Leaves => (draft.after_release(&task), true),
        Step::Fails => (TaskState::Failed, true),
        _ => (TaskState::Succeeded, false),
    };
    let by_limit = detail.leaving.is_some_and(|leaving| leaving.cause == Cause::RunLimit);
    if state == TaskState::Pending {
        detail = detail.anew();
    } else {
        (detail.leaving, detail.ended) = (None, Some(draft.now));
    }
    detail.exit_code = report.exit_code;
    let state_word = state.as_str().to_owned();
    let task = TaskRow { state: state_word, host: None, reason, detail: detail.value(), ..task };
    match state {
        TaskState::Failed => draft.fail(task, retries && !by_limit),
        _ => task,
    }
}

/// What is kept of a report's message: the ledger has room for so much.
fn message(report: &TaskReport) -> Option<String> {
    report.message.as_ref().map(|text| text.chars().take(MAX_MESSAGE).collect())
}

/// What there is to say of a task that has left its host.
fn words(image: &Image, task: &TaskRow, report: &TaskReport) -> String {
    let cause = TaskDetail::of(task).leaving.map(|leaving| leaving.cause.text().to_owned());
    let place = task.host.and_then(|uuid| image.hosts.get(uuid));
    let parts = [
        report.exit_code.map(|code| format!("exit code {code}")),
        message(report),
        cause,
        place.map(|host| format!("on {}", host.row.node)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn verdict(
    report: &TaskReport,
    now: Option<TaskState>,
    step: Option<Result<Option<Step>, String>>,
) -> ReportVerdict {
    let (status, detail) = match step {
        None => (404, Some(format!("there is no task {}", report.task))),
        Some(Ok(_)) => (200, None),
        Some(Err(detail)) => (409, Some(detail)),
    };
    ReportVerdict { task: report.task, status, state: now, detail }
}

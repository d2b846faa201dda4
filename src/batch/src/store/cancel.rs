//! A job is cancelled, and later forgotten.

use super::detail::TaskDetail;
use super::phases::{Draft, state_of};
use crate::error::BatchError;
use crate::life::{JobPhase, TaskState};
use std::collections::BTreeSet;
use std::sync::Arc;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

/// Cancels a job: what waits will not run, what holds room is asked to release
/// it. With `force` the room is freed at once, on the caller's word that
/// nothing of the job runs any more. Cancelling again changes nothing more.
///
/// # Errors
/// No such job, or one that has ended by itself.
pub fn cancel(
    image: &Image,
    job: Uuid,
    force: bool,
    now: Micros,
) -> Result<(Change, ()), BatchError> {
    let row = find(image, job)?;
    if matches!(JobPhase::named(&row.phase), Some(JobPhase::Completed | JobPhase::Failed))
        && !(force && holds(image, row))
    {
        return Err(BatchError::Ended { job, phase: row.phase.clone() });
    }
    let mut draft = Draft::new(image, now);
    draft.end_tasks(row, "cancelled");
    let mut change = Change::new("job.cancel");
    if force {
        free(&mut draft, row);
    }
    if !JobPhase::named(&row.phase).is_some_and(JobPhase::is_final) {
        let phase = JobPhase::Cancelled.as_str().to_owned();
        let conditions = serde_json::Value::Array(Vec::new());
        let row = JobRow { phase, conditions, updated: now, ..JobRow::clone(row) };
        change.push(Record::Job(Box::new(row)));
    }
    Ok((draft.finish(change, BTreeSet::new()), ()))
}

/// Frees what tasks that must go still hold.
fn free(draft: &mut Draft<'_>, job: &JobRow) {
    let image = draft.image;
    for row in image.batch.tasks_of(job.id) {
        let Some(task) = draft.task(row.uuid).cloned() else { continue };
        if state_of(&task) != TaskState::Releasing {
            continue;
        }
        let state = TaskState::Cancelled.as_str().to_owned();
        let detail = TaskDetail { leaving: None, ..TaskDetail::of(&task) }.value();
        draft.put(TaskRow { state, host: None, detail, ..task });
    }
}

/// Forgets a job that has ended and holds nothing.
///
/// # Errors
/// No such job, or one that has not ended.
pub fn forget(image: &Image, job: Uuid) -> Result<(Change, ()), BatchError> {
    let row = find(image, job)?;
    let ended = JobPhase::named(&row.phase).is_some_and(JobPhase::is_final);
    let held = holds(image, row);
    if !ended || held {
        let more = if held { " and some of its tasks hold room on hosts" } else { "" };
        return Err(BatchError::NotEnded { job, phase: row.phase.clone(), more: more.to_owned() });
    }
    let mut change = Change::new("job.forget");
    change.push(Record::JobGone(job));
    Ok((change, ()))
}

fn find(image: &Image, job: Uuid) -> Result<&Arc<JobRow>, BatchError> {
    image.batch.jobs.get(job).ok_or_else(|| BatchError::NoJob(job.to_string()))
}

fn holds(image: &Image, job: &JobRow) -> bool {
    image.batch.tasks_of(job.id).any(|task| state_of(task).holds())
}

//! What owners do with their jobs: hold back, go on, start anew, change.

use super::detail::{Cause, TaskDetail};
use super::hints::Allowed;
use super::phases::{Draft, is_final, state_of};
use super::submit::{check_queue, task_uuid};
use crate::error::BatchError;
use crate::life::{JobPhase, TaskState};
use crate::spec::{JobSpec, RoleSpec, check_sizes, least};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::fields::FieldErrors;
use stowplan_scheduler::select::SchedulingHint;
use utoipa::ToSchema;

/// What is to change of a job; what is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct JobUpdate {
    /// Higher is served first.
    pub priority: Option<i64>,
    /// How many of its tasks must have a place for any to be placed.
    #[schema(minimum = 0)]
    pub min_available: Option<i64>,
    /// Hosts that its tasks must or would rather have, as long as any of them
    /// waits; null for none.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SchedulingHint>)]
    pub hint: Option<Option<SchedulingHint>>,
    /// What is to change of its roles.
    pub tasks: Vec<RoleUpdate>,
}

/// What is to change of a role; what is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleUpdate {
    /// The role.
    pub role: String,
    /// How many tasks. Those with the highest numbers go first.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub count: Option<i64>,
    /// Hosts that its tasks must or would rather have; null for what the job's
    /// hint says.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SchedulingHint>)]
    pub hint: Option<Option<SchedulingHint>>,
}

/// A field that is given, be it null: without this null would count as not
/// given.
fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<SchedulingHint>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Reads the body of an update.
///
/// # Errors
/// Every field that is unknown, or whose value is not of its kind.
pub fn read_update(body: &[u8]) -> Result<JobUpdate, BatchError> {
    Ok(stowplan_scheduler::body::read(body)?)
}

/// Holds a job back: what runs has to leave, and nothing is placed until it is
/// resumed. Suspending again changes nothing more.
///
/// # Errors
/// No such job, or one that has ended.
pub fn suspend(image: &Image, job: Uuid, now: Micros) -> Result<(Change, ()), BatchError> {
    let row = open(image, job, "it cannot be suspended")?;
    if row.phase == JobPhase::Suspended.as_str() {
        return Ok((Change::nothing(), ()));
    }
    let mut draft = Draft::new(image, now);
    draft.send_away(row.id, Cause::Suspended);
    draft.end_nominations(row.id, Cause::Suspended.text());
    let mut change = Change::new("job.suspend");
    change.push(in_phase(row, JobPhase::Suspended, now));
    Ok((draft.finish(change, BTreeSet::new()), ()))
}

/// Lets a suspended job wait for its places again.
///
/// # Errors
/// No such job, or one that is not suspended.
pub fn resume(image: &Image, job: Uuid, now: Micros) -> Result<(Change, ()), BatchError> {
    let row = open(image, job, "it cannot be resumed")?;
    if row.phase != JobPhase::Suspended.as_str() {
        let phase = row.phase.clone();
        return Err(BatchError::WrongPhase { job, phase, why: "only a suspended job is resumed" });
    }
    let mut change = Change::new("job.resume");
    change.push(in_phase(row, JobPhase::Pending, now));
    Ok((change, ()))
}

/// Puts a job back into its queue: all its tasks start anew, those that have
/// ended too. What runs has to leave first.
///
/// # Errors
/// No such job, one that cannot be read, or one that has ended and whose queue
/// takes no jobs any more.
pub fn requeue(image: &Image, job: Uuid, now: Micros) -> Result<(Change, ()), BatchError> {
    let row = find(image, job)?;
    if is_final(&row.phase) {
        check_queue(image, &row.queue, &row.namespace)?;
    }
    let spec = read(row)?;
    let mut draft = Draft::new(image, now);
    draft.restart(row.id, &spec, None, Cause::Requeued);
    let phase = match JobPhase::named(&row.phase) {
        Some(JobPhase::Suspended) => JobPhase::Suspended,
        _ => JobPhase::Pending,
    };
    let mut change = Change::new("job.requeue");
    change.push(in_phase(row, phase, now));
    change.records.extend(draft.records());
    Ok((change, ()))
}

/// Changes a job that has not ended. Tasks that are too many leave; a hint
/// counts for tasks that wait.
///
/// # Errors
/// No such job, one that has ended, fields that cannot be, or a hint for tasks
/// of which none waits.
pub fn update_job(
    image: &Image,
    job: Uuid,
    update: &JobUpdate,
    most_tasks: u64,
    now: Micros,
) -> Result<(Change, ()), BatchError> {
    let row = open(image, job, "it cannot be changed any more")?;
    let before = read(row)?;
    let spec = updated(&before, update, most_tasks)?;
    if spec == before {
        return Ok((Change::nothing(), ()));
    }
    let mut draft = Draft::new(image, now);
    let mut id = image.batch.tasks.next_id();
    for role in &spec.tasks {
        let has: BTreeMap<i64, TaskRow> = draft
            .tasks_of(row.id)
            .into_iter()
            .filter(|task| task.role == role.role)
            .map(|task| (task.index, task))
            .collect();
        let count = i64::from(role.count);
        for index in 0..count {
            match has.get(&index) {
                Some(task) => draft.bring_back(task),
                None => {
                    draft.put(new_task(row, &role.role, index, id, now));
                    id += 1;
                }
            }
        }
        has.into_values().filter(|task| task.index >= count).for_each(|task| draft.drop(task));
    }
    draft.rehint(row, &before, &spec)?;
    let spec = serde_json::to_value(spec).unwrap_or_default();
    let row = JobRow { spec, updated: now, ..JobRow::clone(row) };
    let row = draft.settle(&row).unwrap_or(row);
    let mut change = Change::new("job.update");
    change.push(Record::Job(Box::new(row)));
    Ok((draft.finish(change, BTreeSet::new()), ()))
}

impl Draft<'_> {
    /// Tasks that wait look for hosts by another hint (rule 21); who was
    /// promised a host that it does not name waits anew.
    fn rehint(
        &mut self,
        job: &JobRow,
        before: &JobSpec,
        after: &JobSpec,
    ) -> Result<(), BatchError> {
        let hint_before = |role: &str| before.role(role).and_then(|role| before.hint_of(role));
        let is_changed = |role: &&RoleSpec| hint_before(&role.role) != after.hint_of(role);
        let changed: BTreeSet<&str> =
            after.tasks.iter().filter(is_changed).map(|role| role.role.as_str()).collect();
        if changed.is_empty() {
            return Ok(());
        }
        // Tasks that this update makes are not among those of the image yet.
        let new = self.tasks.values().filter(|task| task.attempt == 0).cloned();
        let tasks: Vec<TaskRow> = new.chain(self.tasks_of(job.id)).collect();
        let mut waiting = tasks.iter().filter(|task| state_of(task) == TaskState::Pending);
        if !waiting.clone().any(|task| changed.contains(task.role.as_str())) {
            return Err(BatchError::WrongPhase {
                job: job.uuid,
                phase: job.phase.clone(),
                why: "none of these tasks waits, so a hint has nothing to act on",
            });
        }
        let image = self.image;
        let mut allowed = Allowed::by(image, after);
        let is_barred = waiting.any(|task| {
            let nomination = TaskDetail::of(task).nomination;
            let host = nomination.and_then(|nomination| image.hosts.get(nomination.host));
            host.is_some_and(|host| !allowed.lets(&task.role, host.ix))
        });
        if is_barred {
            self.end_nominations(
                job.id,
                "its hint does not name the host that others were to leave",
            );
        }
        Ok(())
    }

    /// A task that was too many and is not any more.
    fn bring_back(&mut self, task: &TaskRow) {
        let is_shrunk = |detail: &TaskDetail| {
            detail.leaving.is_some_and(|leaving| leaving.cause == Cause::Shrunk)
        };
        match state_of(task) {
            // It has been told to leave, and comes back afterwards.
            TaskState::Releasing if is_shrunk(&TaskDetail::of(task)) => {
                self.evict(task.clone(), Cause::Requeued, None);
            }
            TaskState::Cancelled => {
                let state = TaskState::Pending.as_str().to_owned();
                let detail = serde_json::Value::Null;
                self.put(TaskRow { state, reason: None, detail, ..task.clone() });
            }
            _ => {}
        }
    }

    /// A task that is too many.
    fn drop(&mut self, task: TaskRow) {
        let state = state_of(&task);
        if state.holds() {
            self.evict(task, Cause::Shrunk, None);
        } else if state == TaskState::Pending {
            let state = TaskState::Cancelled.as_str().to_owned();
            let reason = Some(Cause::Shrunk.text().to_owned());
            let detail = TaskDetail::without_nomination(&task);
            self.put(TaskRow { state, reason, detail, ..task });
        }
    }
}

/// The specification after an update.
fn updated(before: &JobSpec, update: &JobUpdate, most_tasks: u64) -> Result<JobSpec, FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut spec = before.clone();
    if let Some(priority) = update.priority {
        // It is not that of a class any more.
        (spec.priority, spec.priority_class) = (priority, None);
    }
    for (place, wanted) in update.tasks.iter().enumerate() {
        let Some(role) = spec.tasks.iter_mut().find(|role| role.role == wanted.role) else {
            errors.add(format!("tasks[{place}].role"), &wanted.role, "a role of the job");
            continue;
        };
        if let Some(hint) = &wanted.hint {
            hint.iter().for_each(|it| it.check(&mut errors, &format!("tasks[{place}].hint")));
            role.hint.clone_from(hint);
        }
        let Some(wanted) = wanted.count else { continue };
        let least = spec.min_task_member.get(&role.role).copied().unwrap_or(0).max(1);
        match u32::try_from(wanted).ok().filter(|count| *count >= least) {
            Some(count) => role.count = count,
            None => {
                let expected = format!("{least} or more");
                errors.add(format!("tasks[{place}].count"), &wanted, expected);
            }
        }
    }
    if let Some(hint) = &update.hint {
        hint.iter().for_each(|hint| hint.check(&mut errors, "hint"));
        spec.hint.clone_from(hint);
    }
    let count = spec.count();
    let expected = format!("at most {most_tasks} tasks ([batch] max_tasks_per_job)");
    errors.require(count <= most_tasks, "tasks", &count, expected);
    let min = update.min_available.unwrap_or_else(|| before.min_available.into());
    match u32::try_from(min).ok().filter(|min| u64::from(*min) <= count) {
        Some(min) => spec.min_available = min,
        None => errors.add("min_available", &min, format!("0 to {count}, the number of tasks")),
    }
    // What its least part asks for follows, unless its owner said it himself.
    let least = |spec: &JobSpec| least::of(&spec.tasks, spec.min_available, &spec.min_task_member);
    if before.min_resources == Some(least(before)) {
        spec.min_resources = Some(least(&spec));
    }
    if !update.tasks.is_empty() && errors.all().is_empty() {
        check_sizes(&mut errors, &spec.sub_groups, &spec.tasks);
    }
    errors.into_result(spec)
}

fn new_task(job: &JobRow, role: &str, index: i64, id: i64, now: Micros) -> TaskRow {
    TaskRow {
        id,
        uuid: task_uuid(job.uuid, role, index),
        job: job.id,
        role: role.to_owned(),
        index,
        state: TaskState::Pending.as_str().to_owned(),
        attempt: 0,
        host: None,
        reason: None,
        detail: serde_json::Value::Null,
        created: now,
        updated: now,
    }
}

fn in_phase(row: &JobRow, phase: JobPhase, now: Micros) -> Record {
    let conditions = serde_json::Value::Array(Vec::new());
    let phase = phase.as_str().to_owned();
    Record::Job(Box::new(JobRow { phase, conditions, updated: now, ..row.clone() }))
}

fn find(image: &Image, job: Uuid) -> Result<&Arc<JobRow>, BatchError> {
    image.batch.jobs.get(job).ok_or_else(|| BatchError::NoJob(job.to_string()))
}

fn open<'a>(image: &'a Image, job: Uuid, why: &'static str) -> Result<&'a Arc<JobRow>, BatchError> {
    let row = find(image, job)?;
    if is_final(&row.phase) {
        return Err(BatchError::WrongPhase { job, phase: row.phase.clone(), why });
    }
    Ok(row)
}

fn read(row: &JobRow) -> Result<JobSpec, BatchError> {
    JobSpec::read(&row.spec).map_err(|_| BatchError::WrongPhase {
        job: row.uuid,
        phase: row.phase.clone(),
        why: "its specification is of another version",
    })
}

//! A job enters the ledger with all its tasks.

use crate::error::BatchError;
use crate::life::{JobPhase, TaskState};
use crate::spec::{JobSpec, QueueSpec};
use std::sync::Arc;
use stowplan_ledger::rows::{JobRow, QueueRow, TaskRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

/// A checked job on its way into the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Its uuid.
    pub uuid: Uuid,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its queue.
    pub queue: String,
    /// Whether it is held back until it is resumed.
    pub suspend: bool,
    /// What the submitter calls this submission, to make it once however often
    /// it comes.
    pub key: Option<String>,
    /// Its specification.
    pub spec: JobSpec,
}

/// Takes a job in, and tells its uuid. Its tasks' uuids follow from the job's, so that they are
/// the same whoever works them out.
///
/// # Errors
/// A queue that is not there or takes no jobs, a name that is taken, or a key
/// that another submission bore.
pub fn submit(
    image: &Image,
    submission: &Submission,
    now: Micros,
) -> Result<(Change, Uuid), BatchError> {
    if let Some(key) = &submission.key
        && let Some(job) = image.batch.jobs.get(submission.uuid)
    {
        let before = JobSpec::read(&job.spec).ok().and_then(|spec| spec.submitted);
        if before.is_some() && before == submission.spec.submitted {
            return Ok((Change::nothing(), job.uuid));
        }
        return Err(BatchError::KeyUsed(key.clone()));
    }
    check_queue(image, &submission.queue, &submission.namespace)?;
    let (namespace, name) = (&submission.namespace, &submission.name);
    if let Some(other) = image.batch.job_named(namespace, name) {
        return Err(BatchError::NameTaken {
            namespace: namespace.clone(),
            name: name.clone(),
            job: other.uuid,
        });
    }
    let phase = if submission.suspend { JobPhase::Suspended } else { JobPhase::Pending };
    let job = JobRow {
        id: image.batch.jobs.next_id(),
        uuid: submission.uuid,
        namespace: namespace.clone(),
        name: name.clone(),
        queue: submission.queue.clone(),
        phase: phase.as_str().to_owned(),
        spec: serde_json::to_value(&submission.spec).unwrap_or_default(),
        conditions: serde_json::Value::Array(Vec::new()),
        created: now,
        updated: now,
    };
    let mut change = Change::new("job.submit");
    let mut id = image.batch.tasks.next_id();
    let job_id = job.id;
    change.push(Record::Job(Box::new(job)));
    for role in &submission.spec.tasks {
        for index in 0..i64::from(role.count) {
            change.push(Record::Task(TaskRow {
                id,
                uuid: task_uuid(submission.uuid, &role.role, index),
                job: job_id,
                role: role.role.clone(),
                index,
                state: TaskState::Pending.as_str().to_owned(),
                attempt: 0,
                host: None,
                reason: None,
                detail: serde_json::Value::Null,
                created: now,
                updated: now,
            }));
            id += 1;
        }
    }
    Ok((change, submission.uuid))
}

/// That a queue takes jobs of a namespace.
pub(super) fn check_queue(image: &Image, name: &str, namespace: &str) -> Result<(), BatchError> {
    let queue = image.batch.queue(name).ok_or_else(|| BatchError::UnknownQueue(name.to_owned()))?;
    let refused = |why: &str| {
        Err(BatchError::QueueTakesNoJobs { queue: name.to_owned(), why: why.to_owned() })
    };
    if !super::is_open(image, name) {
        return refused(&format!("it is {}", super::queue_state(image, name)));
    }
    let is_below = |row: &Arc<QueueRow>| row.spec.get("parent").is_some_and(|it| it == name);
    if name == super::ROOT_QUEUE || image.batch.queues().any(is_below) {
        return refused("only queues without others below them do");
    }
    if !QueueSpec::read(&queue.spec).admits(namespace) {
        return refused(&format!("project {namespace:?} is not in its may_submit"));
    }
    Ok(())
}

pub(super) fn task_uuid(job: Uuid, role: &str, index: i64) -> Uuid {
    Uuid::new_v5(&job, format!("{role}/{index}").as_bytes())
}

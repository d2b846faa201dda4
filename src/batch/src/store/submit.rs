//! A job enters the ledger with all its tasks.

use crate::error::BatchError;
use crate::life::{JobPhase, TaskState};
use crate::spec::JobSpec;
use stowplan_ledger::rows::{JobRow, TaskRow};
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
    /// Its specification.
    pub spec: JobSpec,
}

/// Takes a job in. Its tasks' uuids follow from the job's, so that they are
/// the same whoever works them out.
///
/// # Errors
/// A queue that is not there or takes no jobs, or a name that is taken.
pub fn submit(
    image: &Image,
    submission: &Submission,
    now: Micros,
) -> Result<(Change, ()), BatchError> {
    check_queue(image, &submission.queue)?;
    let (namespace, name) = (&submission.namespace, &submission.name);
    if let Some(other) = image.batch.job_named(namespace, name) {
        return Err(BatchError::NameTaken {
            namespace: namespace.clone(),
            name: name.clone(),
            job: other.uuid,
        });
    }
    let job = JobRow {
        id: image.batch.jobs.next_id(),
        uuid: submission.uuid,
        namespace: namespace.clone(),
        name: name.clone(),
        queue: submission.queue.clone(),
        phase: JobPhase::Pending.as_str().to_owned(),
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
                created: now,
                updated: now,
            }));
            id += 1;
        }
    }
    Ok((change, ()))
}

fn check_queue(image: &Image, name: &str) -> Result<(), BatchError> {
    let queue = image.batch.queue(name).ok_or_else(|| BatchError::UnknownQueue(name.to_owned()))?;
    let refused = |why: &str| {
        Err(BatchError::QueueTakesNoJobs { queue: name.to_owned(), why: why.to_owned() })
    };
    if queue.state != "Open" {
        return refused(&format!("it is {}", queue.state));
    }
    let is_parent = name == super::ROOT_QUEUE
        || image.batch.queues().any(|other| {
            other.spec.get("parent").and_then(serde_json::Value::as_str) == Some(name)
        });
    if is_parent {
        return refused("only queues without others below them do");
    }
    Ok(())
}

fn task_uuid(job: Uuid, role: &str, index: i64) -> Uuid {
    Uuid::new_v5(&job, format!("{role}/{index}").as_bytes())
}

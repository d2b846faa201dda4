//! What happens to tasks, jobs and queues, as it follows from the journal.

use crate::life::{JobPhase, TaskState};
use crate::store::{Cause, TaskDetail};
use crate::views::{HeldDevice, held_devices};
use serde::Serialize;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_ledger::{Entry, Image, Record};
use stowplan_model::{Micros, Uuid};
use utoipa::ToSchema;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Event {
    /// The ledger's sequence number of the change that brought it about.
    pub seq: i64,
    /// When, microseconds since the epoch.
    #[schema(value_type = i64)]
    pub time: Micros,
    /// The request, or the cycle, that asked for the change.
    pub request_id: String,
    /// What happened, such as `task.bound`.
    #[schema(examples("task.bound"))]
    pub kind: String,
    /// The job, of events of jobs and tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Uuid>,
    /// The job's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskEvent>,
    /// The queue, of events of queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
}

/// A task as an event left it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskEvent {
    /// Its id.
    pub id: Uuid,
    /// Its role.
    pub role: String,
    /// Its number in the role.
    pub index: i64,
    /// How often it has been bound; reports name it.
    pub attempt: i64,
    /// Its host.
    pub host: Option<String>,
    /// The node of that host.
    pub node: Option<String>,
    /// The devices that it holds; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<HeldDevice>,
    /// Why.
    pub reason: Option<String>,
    /// Why it has to leave its host.
    pub leaving: Option<Cause>,
}

/// Which events are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Of these kinds, or what they begin with; none named: all.
    pub kinds: Vec<String>,
    /// Of tasks on this host.
    pub host: Option<String>,
    /// Of this job.
    pub job: Option<Uuid>,
}

/// All kinds of events.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    let tasks = TaskState::ALL.iter().map(|state| task_kind(*state));
    let jobs = JobPhase::ALL.iter().map(|phase| job_kind(*phase));
    let others = ["job.gone", "queue.create", "queue.update", "queue.delete"];
    tasks.chain(jobs).chain(others)
}

/// Whether a kind is the one that is asked for, or one of its group.
#[must_use]
pub fn is_of(kind: &str, asked: &str) -> bool {
    kind.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The events of a change, as far as they are looked for. Names of hosts are
/// those of the image.
pub fn of<'a>(
    entry: &'a Entry,
    image: &'a Image,
    filter: &'a EventFilter,
) -> impl Iterator<Item = Event> + 'a {
    let wanted = |record: &&Record| {
        let kinds = &filter.kinds;
        let is = |kind: &str| kinds.is_empty() || kinds.iter().any(|asked| is_of(kind, asked));
        kind(record).is_some_and(is)
    };
    let records = entry.change.records.iter().filter(wanted);
    let events = records.filter_map(move |record| event(entry, image, record));
    events.filter(move |event| passes(event, filter))
}

fn passes(event: &Event, filter: &EventFilter) -> bool {
    let host =
        |name: &String| event.task.as_ref().is_some_and(|task| task.host.as_ref() == Some(name));
    filter.host.as_ref().is_none_or(host) && filter.job.is_none_or(|job| event.job == Some(job))
}

/// What a record is an event of.
fn kind(record: &Record) -> Option<&'static str> {
    Some(match record {
        Record::Task(row) => task_kind(TaskState::named(&row.state)?),
        Record::Job(row) => job_kind(JobPhase::named(&row.phase)?),
        Record::JobGone(_) => "job.gone",
        Record::Queue(row) if row.generation == 0 => "queue.create",
        Record::Queue(_) => "queue.update",
        Record::QueueGone(_) => "queue.delete",
        _ => return None,
    })
}

fn event(entry: &Entry, image: &Image, record: &Record) -> Option<Event> {
    let bare = Event {
        seq: entry.seq,
        time: entry.time,
        request_id: entry.request_id.clone(),
        kind: kind(record)?.to_owned(),
        job: None,
        name: None,
        task: None,
        queue: None,
    };
    match record {
        Record::Task(row) => {
            let task = Some(task(image, row));
            let job = image.batch.jobs.by_id(row.job);
            let (job, name) = (job.map(|job| job.uuid), job.map(|job| job.name.clone()));
            Some(Event { job, name, task, ..bare })
        }
        Record::Job(row) => {
            let JobRow { uuid, name, .. } = &**row;
            let (job, name) = (Some(*uuid), Some(name.clone()));
            Some(Event { job, name, ..bare })
        }
        Record::JobGone(uuid) => Some(Event { job: Some(*uuid), ..bare }),
        Record::Queue(row) => Some(Event { queue: Some(row.name.clone()), ..bare }),
        Record::QueueGone(name) => Some(Event { queue: Some(name.clone()), ..bare }),
        _ => None,
    }
}

fn task(image: &Image, row: &TaskRow) -> TaskEvent {
    let host = row.host.and_then(|uuid| image.hosts.get(uuid));
    // Of an attempt that is over nobody knows any more what it held.
    let is_current = image
        .batch
        .tasks
        .get(row.uuid)
        .is_some_and(|now| (now.attempt, now.host) == (row.attempt, row.host));
    TaskEvent {
        id: row.uuid,
        role: row.role.clone(),
        index: row.index,
        attempt: row.attempt,
        host: host.map(|host| host.row.host.clone()),
        node: host.map(|host| host.row.node.clone()),
        devices: if is_current { held_devices(image, row) } else { Vec::new() },
        reason: row.reason.clone(),
        leaving: TaskDetail::of(row).leaving.map(|leaving| leaving.cause),
    }
}

const fn task_kind(state: TaskState) -> &'static str {
    match state {
        TaskState::Pending => "task.pending",
        TaskState::Bound => "task.bound",
        TaskState::Running => "task.running",
        TaskState::Releasing => "task.evict",
        TaskState::Succeeded => "task.succeeded",
        TaskState::Failed => "task.failed",
        TaskState::Unknown => "task.unknown",
        TaskState::Cancelled => "task.cancelled",
    }
}

const fn job_kind(phase: JobPhase) -> &'static str {
    match phase {
        JobPhase::Pending => "job.pending",
        JobPhase::Inqueue => "job.inqueue",
        JobPhase::Running => "job.running",
        JobPhase::Completed => "job.completed",
        JobPhase::Unknown => "job.unknown",
        JobPhase::Failed => "job.failed",
        JobPhase::Cancelled => "job.cancelled",
        JobPhase::Suspended => "job.suspended",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_their_groups() {
        assert!(kinds().any(|kind| kind == "task.evict"));
        assert!(kinds().any(|kind| kind == "job.suspended"));
        assert!(!kinds().any(|kind| kind == "task.releasing"));
        assert!(is_of("task.bound", "task") && is_of("task.bound", "task.bound"));
        assert!(!is_of("task.bound", "task.b") && !is_of("job.gone", "task"));
    }
}

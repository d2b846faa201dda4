//! Queues, jobs and tasks as readers see them: answered from an image alone.

use crate::life::{JobPhase, TaskState};
use crate::session::Condition;
use crate::spec::{JobSpec, QueueSpec};
use crate::store::{ROOT_QUEUE, has_place};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stowplan_ledger::Image;
use stowplan_ledger::rows::{JobRow, QueueRow, TaskRow};
use stowplan_model::{Micros, Uuid};
use utoipa::ToSchema;

/// A job as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct JobSummary {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its queue.
    pub queue: String,
    /// Its phase.
    pub phase: JobPhase,
    /// Its tasks by state; states of no task are left out.
    pub counts: BTreeMap<String, u32>,
    /// Why it stands where it stands.
    pub conditions: Vec<Condition>,
    /// When it was submitted, microseconds since the epoch.
    #[schema(value_type = i64)]
    pub created: Micros,
    /// When it last changed, microseconds since the epoch.
    #[schema(value_type = i64)]
    pub updated: Micros,
}

/// A job in full.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct JobDetail {
    /// What lists show of it.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// Its specification; null when it cannot be read.
    pub spec: Option<JobSpec>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskView {
    /// Its id, which is its consumer's.
    pub id: Uuid,
    /// Its name: `job/role/index`.
    pub name: String,
    /// Its role.
    pub role: String,
    /// Its number in the role, from 0.
    pub index: i64,
    /// Its state.
    pub state: TaskState,
    /// How often it has been bound; reports name it.
    pub attempt: i64,
    /// The host that it is bound to.
    pub host: Option<String>,
    /// The node of that host.
    pub node: Option<String>,
    /// What it holds, or will hold: units by resource class.
    pub charged: BTreeMap<String, i64>,
    /// Why it stands where it stands.
    pub reason: Option<String>,
    /// When it last changed, microseconds since the epoch.
    #[schema(value_type = i64)]
    pub updated: Micros,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct QueueView {
    /// Its name.
    pub name: String,
    /// Its specification.
    #[serde(flatten)]
    pub spec: QueueSpec,
    /// Counts the changes of its specification.
    pub generation: i64,
    /// How it stands.
    pub status: QueueStatus,
    /// When it was created, microseconds since the epoch.
    #[schema(value_type = i64)]
    pub created: Micros,
}

/// How a queue stands, with all queues below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct QueueStatus {
    /// `Open`, `Closing`, `Closed` or `Unknown`.
    pub state: String,
    /// What its bound and running tasks hold: units by resource class.
    pub allocated: BTreeMap<String, i64>,
    /// Its jobs that have not ended, by phase; phases of no job are left out.
    pub counts: BTreeMap<String, u32>,
}

/// Which jobs are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// In this queue.
    pub queue: Option<String>,
    /// In this namespace.
    pub namespace: Option<String>,
    /// Of this name.
    pub name: Option<String>,
    /// In this phase.
    pub phase: Option<JobPhase>,
}

/// A page of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct JobPage {
    /// The jobs, in order of submission.
    pub jobs: Vec<JobSummary>,
    /// The marker of the next page; none after the last.
    pub next: Option<Uuid>,
}

/// Lists jobs in order of submission, from behind `marker` (a job) on.
#[must_use]
pub fn jobs(image: &Image, filter: &JobFilter, marker: Option<Uuid>, limit: usize) -> JobPage {
    let after = marker.and_then(|uuid| image.batch.jobs.get(uuid)).map_or(0, |job| job.id);
    let rows: Box<dyn Iterator<Item = &JobRow>> = match filter.phase {
        Some(phase) => Box::new(image.batch.jobs_in(phase.as_str()).map(AsRef::as_ref)),
        None => Box::new(image.batch.jobs.iter().map(AsRef::as_ref)),
    };
    let is = |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|name| name == has);
    let mut found = rows.filter(|job| {
        job.id > after
            && is(&filter.queue, &job.queue)
            && is(&filter.namespace, &job.namespace)
            && is(&filter.name, &job.name)
    });
    let page: Vec<&JobRow> = found.by_ref().take(limit).collect();
    let next = if found.next().is_some() { page.last().map(|job| job.uuid) } else { None };
    JobPage { jobs: page.into_iter().map(|job| summary(image, job)).collect(), next }
}

/// A job in full.
#[must_use]
pub fn job(image: &Image, uuid: Uuid) -> Option<JobDetail> {
    let row = image.batch.jobs.get(uuid)?;
    Some(JobDetail { summary: summary(image, row), spec: JobSpec::read(&row.spec).ok() })
}

/// The tasks of a job, in order of creation.
#[must_use]
pub fn tasks(image: &Image, job: Uuid) -> Option<Vec<TaskView>> {
    let row = image.batch.jobs.get(job)?;
    let spec = JobSpec::read(&row.spec).ok();
    let rows = image.batch.tasks_of(row.id);
    Some(rows.map(|task| task_view(image, row, spec.as_ref(), task)).collect())
}

/// A queue.
#[must_use]
pub fn queue(image: &Image, name: &str) -> Option<QueueView> {
    let row = image.batch.queue(name)?;
    let mut view = queue_view(row);
    for (leaf, status) in statuses(image) {
        if is_below(image, leaf, name) {
            add(&mut view.status, &status);
        }
    }
    Some(view)
}

/// All queues, in order of their names.
#[must_use]
pub fn queues(image: &Image) -> Vec<QueueView> {
    let statuses = statuses(image);
    let view = |row: &QueueRow| {
        let mut view = queue_view(row);
        for (leaf, status) in &statuses {
            if is_below(image, leaf, &row.name) {
                add(&mut view.status, status);
            }
        }
        view
    };
    image.batch.queues().map(|row| view(row)).collect()
}

fn summary(image: &Image, row: &JobRow) -> JobSummary {
    let mut counts = BTreeMap::new();
    for task in image.batch.tasks_of(row.id) {
        *counts.entry(task.state.clone()).or_default() += 1;
    }
    JobSummary {
        id: row.uuid,
        name: row.name.clone(),
        namespace: row.namespace.clone(),
        queue: row.queue.clone(),
        phase: JobPhase::named(&row.phase).unwrap_or(JobPhase::Unknown),
        counts,
        conditions: Vec::deserialize(&row.conditions).unwrap_or_default(),
        created: row.created,
        updated: row.updated,
    }
}

fn task_view(image: &Image, job: &JobRow, spec: Option<&JobSpec>, task: &TaskRow) -> TaskView {
    let host = task.host.and_then(|uuid| image.hosts.get(uuid));
    let role = spec.and_then(|spec| spec.role(&task.role));
    TaskView {
        id: task.uuid,
        name: format!("{}/{}/{}", job.name, task.role, task.index),
        role: task.role.clone(),
        index: task.index,
        state: TaskState::named(&task.state).unwrap_or(TaskState::Unknown),
        attempt: task.attempt,
        host: host.map(|host| host.row.host.clone()),
        node: host.map(|host| host.row.node.clone()),
        charged: role.map_or_else(BTreeMap::new, |role| role.charged.clone()),
        reason: task.reason.clone(),
        updated: task.updated,
    }
}

fn queue_view(row: &QueueRow) -> QueueView {
    QueueView {
        name: row.name.clone(),
        spec: QueueSpec::deserialize(&row.spec).unwrap_or_default(),
        generation: row.generation,
        status: QueueStatus { state: row.state.clone(), ..QueueStatus::default() },
        created: row.created,
    }
}

/// How the queues that have open jobs stand by themselves.
fn statuses(image: &Image) -> BTreeMap<&str, QueueStatus> {
    let mut statuses: BTreeMap<&str, QueueStatus> = BTreeMap::new();
    for phase in JobPhase::OPEN {
        for job in image.batch.jobs_in(phase.as_str()) {
            let status = statuses.entry(&job.queue).or_default();
            *status.counts.entry(job.phase.clone()).or_default() += 1;
            for task in image.batch.tasks_of(job.id).filter(|task| has_place(&task.state)) {
                let held = image.consumers.get(task.uuid);
                for allocation in held.into_iter().flat_map(|held| &held.allocations) {
                    let class = image.classes.name(allocation.class).to_owned();
                    *status.allocated.entry(class).or_default() += allocation.used;
                }
            }
        }
    }
    statuses
}

fn add(status: &mut QueueStatus, more: &QueueStatus) {
    for (class, amount) in &more.allocated {
        *status.allocated.entry(class.clone()).or_default() += amount;
    }
    for (phase, count) in &more.counts {
        *status.counts.entry(phase.clone()).or_default() += count;
    }
}

/// Whether a queue is another or lies below it.
fn is_below(image: &Image, queue: &str, above: &str) -> bool {
    if above == ROOT_QUEUE {
        return true;
    }
    let mut at = queue.to_owned();
    // As many steps as there are queues: a circle ends too.
    for _ in 0..=image.batch.queues().count() {
        if at == above {
            return true;
        }
        let Some(row) = image.batch.queue(&at) else { return false };
        match QueueSpec::deserialize(&row.spec).unwrap_or_default().parent {
            Some(parent) => at = parent,
            None => return false,
        }
    }
    false
}

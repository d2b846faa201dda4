//! Jobs and tasks as readers see them.

use super::{HeldDevice, held_devices};
use crate::life::{JobPhase, TaskState};
use crate::session::CellShare;
use crate::session::Condition;
use crate::spec::JobSpec;
use crate::store::{Cause, TaskDetail, hint_warnings};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_engine::hint::HintOutcome;
use stowplan_ledger::Image;
use stowplan_ledger::rows::{JobRow, TaskRow};
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
    /// What its owner should know of its hints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskView {
    /// Its id, which is its consumer's.
    pub id: Uuid,
    /// Its job.
    pub job: Uuid,
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
    /// The host that others leave for it.
    pub nominated_host: Option<String>,
    /// What it holds, or will hold: units by resource class.
    pub charged: BTreeMap<String, i64>,
    /// The devices that it holds; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<HeldDevice>,
    /// Why it stands where it stands.
    pub reason: Option<String>,
    /// Its exit code, once it has ended and its executor has told.
    pub exit_code: Option<i64>,
    /// How often it has been tried again after it failed.
    pub retries: u32,
    /// How often it was evicted for others in a row, each time within `[batch]
    /// loop_window` after the one before: from 2 on it runs in a loop, and is
    /// spared until that time is over.
    pub evictions: u32,
    /// When this attempt was first reported as running, microseconds since the
    /// epoch.
    #[schema(value_type = Option<i64>)]
    pub started: Option<Micros>,
    /// When it ended.
    #[schema(value_type = Option<i64>)]
    pub ended: Option<Micros>,
    /// It is not placed before.
    #[schema(value_type = Option<i64>)]
    pub not_before: Option<Micros>,
    /// Why it has to leave its host.
    pub leaving: Option<Cause>,
    /// The NUMA cells of its host that it is to run on (plugin numaaware); none:
    /// any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numa_cells: Vec<CellShare>,
    /// What became of its hint when it was placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub hint: Option<HintOutcome>,
    /// When it last changed, microseconds since the epoch.
    #[schema(value_type = i64)]
    pub updated: Micros,
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
    /// With a task on this host.
    pub host: Option<String>,
    /// With tasks that have this label, with this value if there is one.
    pub label: Option<(String, Option<String>)>,
}

impl JobFilter {
    /// Whether a job is looked for, its phase and hosts apart.
    fn passes(&self, job: &JobRow) -> bool {
        let is =
            |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|name| name == has);
        is(&self.queue, &job.queue)
            && is(&self.namespace, &job.namespace)
            && is(&self.name, &job.name)
            && self.label.as_ref().is_none_or(|(key, value)| {
                // Not the whole specification: this is asked of many jobs.
                let roles = job.spec.get("tasks").and_then(Value::as_array);
                roles.into_iter().flatten().any(|role| {
                    let label = role.get("labels").and_then(|labels| labels.get(key)?.as_str());
                    label.is_some_and(|has| value.as_ref().is_none_or(|value| value == has))
                })
            })
    }

    /// The jobs with a task on the host that is asked for, in order of
    /// submission.
    fn on_host<'a>(&self, image: &'a Image) -> Option<BTreeMap<i64, &'a JobRow>> {
        let host = self.host.as_deref()?;
        let tasks = image.hosts.nodes_of(host).flat_map(|node| image.batch.tasks_on(node.row.uuid));
        let jobs = tasks.filter_map(|task| image.batch.jobs.by_id(task.job));
        Some(jobs.map(|job| (job.id, job.as_ref())).collect())
    }
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
    let in_phase = |job: &&JobRow| filter.phase.is_none_or(|phase| job.phase == phase.as_str());
    let rows: Box<dyn Iterator<Item = &JobRow>> = match (filter.on_host(image), filter.phase) {
        (Some(jobs), _) => Box::new(jobs.into_values().filter(in_phase)),
        (None, Some(phase)) => Box::new(image.batch.jobs_in(phase.as_str()).map(AsRef::as_ref)),
        (None, None) => Box::new(image.batch.jobs.iter().map(AsRef::as_ref)),
    };
    let mut found = rows.filter(|job| job.id > after && filter.passes(job));
    let page: Vec<&JobRow> = found.by_ref().take(limit).collect();
    let next = if found.next().is_some() { page.last().map(|job| job.uuid) } else { None };
    JobPage { jobs: page.into_iter().map(|job| summary(image, job)).collect(), next }
}

/// Of these jobs those that are looked for, in the order given.
pub fn jobs_among<'a>(
    image: &'a Image,
    filter: &'a JobFilter,
    order: &'a [Uuid],
) -> impl Iterator<Item = JobSummary> + 'a {
    let on_host = filter.on_host(image);
    let rows = order.iter().filter_map(|uuid| image.batch.jobs.get(*uuid));
    let found = rows.filter(move |job| {
        on_host.as_ref().is_none_or(|jobs| jobs.contains_key(&job.id))
            && filter.phase.is_none_or(|phase| job.phase == phase.as_str())
            && filter.passes(job)
    });
    found.map(|job| summary(image, job))
}

/// A job in full.
#[must_use]
pub fn job(image: &Image, uuid: Uuid) -> Option<JobDetail> {
    let row = image.batch.jobs.get(uuid)?;
    let spec = JobSpec::read(&row.spec).ok();
    let warnings = spec.as_ref().map(|spec| hint_warnings(image, spec)).unwrap_or_default();
    Some(JobDetail { summary: summary(image, row), spec, warnings })
}

/// The tasks of a job, in order of creation.
#[must_use]
pub fn tasks(image: &Image, job: Uuid) -> Option<Vec<TaskView>> {
    let row = image.batch.jobs.get(job)?;
    let spec = JobSpec::read(&row.spec).ok();
    let rows = image.batch.tasks_of(row.id);
    Some(rows.map(|task| task_view(image, row, spec.as_ref(), task)).collect())
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
    let detail = TaskDetail::of(task);
    TaskView {
        id: task.uuid,
        job: job.uuid,
        name: format!("{}/{}/{}", job.name, task.role, task.index),
        role: task.role.clone(),
        index: task.index,
        state: TaskState::named(&task.state).unwrap_or(TaskState::Unknown),
        attempt: task.attempt,
        host: host.map(|host| host.row.host.clone()),
        node: host.map(|host| host.row.node.clone()),
        nominated_host: detail
            .nomination
            .and_then(|it| image.hosts.get(it.host))
            .map(|host| host.row.host.clone()),
        charged: role.map_or_else(BTreeMap::new, |role| role.charged.clone()),
        devices: held_devices(image, task),
        reason: task.reason.clone(),
        exit_code: detail.exit_code,
        retries: detail.retries,
        evictions: detail.evicted.map_or(0, |evicted| evicted.count),
        started: detail.started,
        ended: detail.ended,
        not_before: detail.not_before,
        leaving: detail.leaving.map(|leaving| leaving.cause),
        numa_cells: detail.numa_cells,
        hint: detail.hint,
        updated: task.updated,
    }
}

/// What a host is to run and what it has to let go, in order of creation: the
/// state that its executor brings about, whatever events it has missed.
#[must_use]
pub fn tasks_on(image: &Image, host: Uuid) -> Vec<TaskView> {
    let mut specs: BTreeMap<i64, Option<JobSpec>> = BTreeMap::new();
    let tasks = image.batch.tasks_on(host).filter_map(|task| {
        let job = image.batch.jobs.by_id(task.job)?;
        let spec = specs.entry(job.id).or_insert_with(|| JobSpec::read(&job.spec).ok());
        Some(task_view(image, job, spec.as_ref(), task))
    });
    tasks.collect()
}

/// A task.
#[must_use]
pub fn task(image: &Image, uuid: Uuid) -> Option<TaskView> {
    let task = image.batch.tasks.get(uuid)?;
    let job = image.batch.jobs.by_id(task.job)?;
    Some(task_view(image, job, JobSpec::read(&job.spec).ok().as_ref(), task))
}

//! Queues, jobs and tasks.

use super::{Map, groups::Rows};
use crate::rows::{BatchObjectRow, JobRow, QueueRow, TaskRow};
use std::sync::Arc;
use stowplan_model::Uuid;

/// All objects of the batch layer.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    queues: imbl::OrdMap<Arc<str>, Arc<QueueRow>>,
    last_queue_id: i64,
    /// Jobs, in order of submission.
    pub jobs: Rows<JobRow>,
    job_names: Map<(String, String), Uuid>,
    by_phase: imbl::OrdMap<Arc<str>, imbl::OrdSet<i64>>,
    /// Tasks, in order of creation.
    pub tasks: Rows<TaskRow>,
    by_job: imbl::OrdSet<(i64, i64)>,
    by_host: imbl::OrdSet<(Uuid, i64)>,
    by_state: imbl::OrdMap<Arc<str>, imbl::OrdSet<i64>>,
    /// Named objects that steer jobs, in order of creation.
    pub objects: Rows<BatchObjectRow>,
}

impl Batch {
    /// A queue.
    #[must_use]
    pub fn queue(&self, name: &str) -> Option<&Arc<QueueRow>> {
        self.queues.get(name)
    }

    /// All queues, in order of their names.
    pub fn queues(&self) -> impl Iterator<Item = &Arc<QueueRow>> {
        self.queues.values()
    }

    /// The id that the next new queue takes.
    #[must_use]
    pub fn next_queue_id(&self) -> i64 {
        self.last_queue_id + 1
    }

    pub(super) fn last_id(&self) -> i64 {
        self.last_queue_id
    }

    pub(super) fn raise_id(&mut self, last: i64) {
        self.last_queue_id = self.last_queue_id.max(last);
    }

    /// The job of a namespace with this name.
    #[must_use]
    pub fn job_named(&self, namespace: &str, name: &str) -> Option<&Arc<JobRow>> {
        self.jobs.get(*self.job_names.get(&(namespace.to_owned(), name.to_owned()))?)
    }

    /// The jobs in a phase, in order of submission.
    pub fn jobs_in(&self, phase: &str) -> impl Iterator<Item = &Arc<JobRow>> {
        let ids = self.by_phase.get(phase).into_iter().flatten();
        ids.filter_map(|id| self.jobs.by_id(*id))
    }

    /// The tasks of a job, in order of creation.
    pub fn tasks_of(&self, job: i64) -> impl Iterator<Item = &Arc<TaskRow>> {
        let range = (job, i64::MIN)..=(job, i64::MAX);
        self.by_job.range(range).filter_map(|(_, task)| self.tasks.by_id(*task))
    }

    /// The tasks that a host is to run or runs, in order of creation.
    pub fn tasks_on(&self, host: Uuid) -> impl Iterator<Item = &Arc<TaskRow>> {
        let range = (host, i64::MIN)..=(host, i64::MAX);
        self.by_host.range(range).filter_map(|(_, task)| self.tasks.by_id(*task))
    }

    /// The tasks in a state, in order of creation.
    pub fn tasks_in(&self, state: &str) -> impl Iterator<Item = &Arc<TaskRow>> {
        let ids = self.by_state.get(state).into_iter().flatten();
        ids.filter_map(|id| self.tasks.by_id(*id))
    }

    pub(super) fn put_queue(&mut self, row: &QueueRow) {
        self.last_queue_id = self.last_queue_id.max(row.id);
        self.queues.insert(row.name.as_str().into(), Arc::new(row.clone()));
    }

    pub(super) fn remove_queue(&mut self, name: &str) {
        self.queues.remove(name);
    }

    pub(super) fn put_job(&mut self, row: &JobRow) {
        if let Some(before) = self.jobs.put(row.id, row.uuid, row.clone()) {
            self.forget_name(&before);
            self.leave_phase(&before);
        }
        self.job_names.insert((row.namespace.clone(), row.name.clone()), row.uuid);
        self.by_phase.entry(row.phase.as_str().into()).or_default().insert(row.id);
    }

    /// Takes a job's name out, unless another job bears it by now.
    fn forget_name(&mut self, job: &JobRow) {
        let name = (job.namespace.clone(), job.name.clone());
        if self.job_names.get(&name) == Some(&job.uuid) {
            self.job_names.remove(&name);
        }
    }

    fn leave_phase(&mut self, job: &JobRow) {
        if let Some(jobs) = self.by_phase.get_mut(job.phase.as_str()) {
            jobs.remove(&job.id);
        }
    }

    pub(super) fn remove_job(&mut self, uuid: Uuid) {
        let Some(job) = self.jobs.remove(uuid) else { return };
        self.forget_name(&job);
        self.leave_phase(&job);
        let tasks: Vec<Uuid> = self.tasks_of(job.id).map(|task| task.uuid).collect();
        for task in tasks {
            if let Some(task) = self.tasks.remove(task) {
                self.unindex(&task);
            }
        }
    }

    pub(super) fn put_task(&mut self, row: &TaskRow) {
        if let Some(before) = self.tasks.put(row.id, row.uuid, row.clone()) {
            self.unindex(&before);
        }
        self.by_job.insert((row.job, row.id));
        match self.by_state.get_mut(row.state.as_str()) {
            Some(tasks) => drop(tasks.insert(row.id)),
            None => {
                drop(self.by_state.insert(row.state.as_str().into(), imbl::OrdSet::unit(row.id)))
            }
        }
        if let Some(host) = row.host {
            self.by_host.insert((host, row.id));
        }
    }

    fn unindex(&mut self, task: &TaskRow) {
        self.by_job.remove(&(task.job, task.id));
        if let Some(tasks) = self.by_state.get_mut(task.state.as_str()) {
            tasks.remove(&task.id);
        }
        if let Some(host) = task.host {
            self.by_host.remove(&(host, task.id));
        }
    }
}

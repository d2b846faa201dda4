//! A session's state as an image of the ledger has it.

use super::phases::state_of;
use crate::amounts::{Amounts, Dims};
use crate::life::{JobPhase, TaskState};
use crate::session::{
    Census, Condition, ConditionKind, Job, JobIx, Queue, QueueIx, Role, Shape, ShapeIx, State,
    Status, Task, Verdict,
};
use crate::spec::{JobSpec, QueueSpec};
use crate::world::{Picks, World};
use foldhash::{HashMap, HashMapExt};
use serde::Deserialize;
use std::sync::Arc;
use stowplan_config::BatchTotal;
use stowplan_engine::HostIx;
use stowplan_ledger::Image;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_model::{Micros, Uuid};

/// Specifications read before, by job: a row that has not changed is not read
/// again.
#[derive(Debug, Default)]
pub struct SpecCache {
    specs: HashMap<Uuid, (Arc<JobRow>, Arc<JobSpec>)>,
}

impl SpecCache {
    fn get(&mut self, row: &Arc<JobRow>) -> Result<Arc<JobSpec>, serde_json::Error> {
        if let Some((known, spec)) = self.specs.get(&row.uuid)
            && (Arc::ptr_eq(known, row) || known.spec == row.spec)
        {
            return Ok(spec.clone());
        }
        let spec = Arc::new(JobSpec::read(&row.spec)?);
        self.specs.insert(row.uuid, (row.clone(), spec.clone()));
        Ok(spec)
    }

    /// Forgets jobs that have ended.
    fn keep_open(&mut self, image: &Image) {
        self.specs
            .retain(|uuid, _| image.batch.jobs.get(*uuid).is_some_and(|row| !is_final(&row.phase)));
    }
}

/// A session's state, and what is to be said of jobs that cannot be in it.
pub struct Loaded {
    /// Hosts, queues, and all jobs that have not ended.
    pub state: State,
    /// Jobs that cannot be placed as they are kept.
    pub unreadable: Vec<Verdict>,
}

/// Whether any task waits for a host.
#[must_use]
pub fn has_work(image: &Image) -> bool {
    open_jobs(image)
        .any(|job| image.batch.tasks_of(job.id).any(|task| state_of(task) == TaskState::Pending))
}

fn open_jobs(image: &Image) -> impl Iterator<Item = &Arc<JobRow>> {
    JobPhase::OPEN.into_iter().flat_map(|phase| image.batch.jobs_in(phase.as_str()))
}

fn is_final(phase: &str) -> bool {
    JobPhase::named(phase).is_none_or(JobPhase::is_final)
}

/// Reads an image into a session's state.
#[must_use]
pub fn load(
    image: &Image,
    dims: &Arc<Dims>,
    total: BatchTotal,
    cache: &mut SpecCache,
    now: Micros,
) -> Loaded {
    let mut state = State::new(World::from_image(image, dims.clone()), now);
    let mut queues = HashMap::new();
    for row in image.batch.queues() {
        let spec = QueueSpec::deserialize(&row.spec).unwrap_or_default();
        let queue = Queue {
            priority: spec.priority,
            created: row.created,
            open: row.state == "Open",
            ..Queue::named(&row.name)
        };
        queues.insert(row.name.as_str(), state.add_queue(queue));
    }
    if cache.specs.len() > 2 * open_jobs(image).count() {
        cache.keep_open(image);
    }
    let mut loader = Loader { image, dims, state, queues, held: Amounts::new() };
    let mut unreadable = Vec::new();
    for row in open_jobs(image) {
        if let Err(why) = loader.job(row, cache) {
            unreadable.push(refused(row, why, image.seq()));
        }
    }
    loader.leaving();
    if total == BatchTotal::Available {
        // What is used and no task holds belongs to others (rule 5).
        let foreign = loader.state.world.total_used().exceeded(&loader.held);
        loader.state.set_foreign(foreign);
    }
    Loaded { state: loader.state, unreadable }
}

struct Loader<'a> {
    image: &'a Image,
    dims: &'a Dims,
    state: State,
    queues: HashMap<&'a str, QueueIx>,
    /// What all tasks hold.
    held: Amounts,
}

impl Loader<'_> {
    fn job(&mut self, row: &Arc<JobRow>, cache: &mut SpecCache) -> Result<(), String> {
        let spec = cache.get(row).map_err(|error| error.to_string())?;
        let queue = self.queues.get(row.queue.as_str()).copied();
        let queue = queue.ok_or_else(|| format!("there is no queue {:?}", row.queue))?;
        let mut shapes = Vec::with_capacity(spec.tasks.len());
        for role in &spec.tasks {
            let request = self.dims.from_classes(&role.charged).map_err(|e| e.to_string())?;
            shapes.push(self.state.shape(Shape {
                request,
                node_selector: Arc::new(role.node_selector.clone()),
                tolerations: Arc::new(role.tolerations.clone()),
                wishes: None,
            }));
        }
        let roles = spec.tasks.iter().map(|role| Role {
            name: role.role.clone(),
            min: spec.min_task_member.get(&role.role).copied(),
            census: Census::default(),
        });
        let name = format!("{}/{}", row.namespace, row.name);
        let job = self.state.add_job(Job {
            created: row.created,
            priority: spec.priority,
            phase: JobPhase::named(&row.phase).unwrap_or(JobPhase::Unknown),
            min_available: spec.min_available,
            roles: roles.collect(),
            ..Job::named(row.uuid, name, queue)
        });
        for task in self.image.batch.tasks_of(row.id) {
            self.task(job, task, &spec, &shapes);
        }
        Ok(())
    }

    fn task(&mut self, job: JobIx, row: &TaskRow, spec: &JobSpec, shapes: &[ShapeIx]) {
        let Some(role) = spec.tasks.iter().position(|role| role.role == row.role) else { return };
        let Some(shape) = shapes.get(role) else { return };
        let at = self.state.add_task(Task {
            uuid: row.uuid,
            name: format!("{}/{}", row.role, row.index),
            job,
            role: role as u32,
            number: u64::try_from(row.index).ok(),
            created: row.created,
            priority: spec.tasks.get(role).map_or(0, |role| role.priority),
            shape: *shape,
            status: Status::from(state_of(row)),
            attempt: row.attempt,
            preemptable: true,
            may_preempt: true,
            protected: false,
            host: row.host.and_then(|host| self.host(host)),
            picks: Picks::new(),
        });
        if self.state[at].status.is_on_host() {
            self.held.add(&self.state.shape_of(at).request);
        }
    }

    /// Tasks of jobs that have ended and that still have to leave their hosts.
    fn leaving(&mut self) {
        for host in self.image.hosts.iter() {
            for task in self.image.batch.tasks_on(host.row.uuid) {
                let job = self.image.batch.jobs.by_id(task.job);
                if state_of(task) == TaskState::Releasing
                    && job.is_none_or(|job| is_final(&job.phase))
                {
                    let held = self.held(task.uuid);
                    self.held.add(&held);
                    self.state.world.release(host.ix, &held);
                }
            }
        }
    }

    /// What a task holds, by the ledger's books.
    fn held(&self, task: Uuid) -> Amounts {
        let mut held = Amounts::new();
        let consumer = self.image.consumers.get(task);
        for allocation in consumer.into_iter().flat_map(|consumer| &consumer.allocations) {
            let class = self.image.classes.name(allocation.class);
            let dim = self.dims.iter().find(|(_, dim)| dim.class.as_deref() == Some(class));
            if let Some((dim, _)) = dim {
                held.set(dim, held.get(dim) + allocation.used);
            }
        }
        held
    }

    fn host(&self, uuid: Uuid) -> Option<HostIx> {
        self.image.hosts.get(uuid).map(|host| host.ix)
    }
}

fn refused(row: &JobRow, why: String, cycle: i64) -> Verdict {
    Verdict {
        job: row.uuid,
        phase: JobPhase::named(&row.phase).unwrap_or(JobPhase::Unknown),
        condition: Some(Condition {
            kind: ConditionKind::Unschedulable,
            status: true,
            reason: "NotUnderstood".to_owned(),
            message: why,
            cycle,
        }),
    }
}

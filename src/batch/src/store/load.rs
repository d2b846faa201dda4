//! A session's state as an image of the ledger has it.

use super::detail::{TaskDetail, is_due};
use super::nominate::hold_of;
use super::phases::state_of;
use super::{ROOT_QUEUE, Tree, quotas};
use crate::amounts::{Amounts, Dims};
use crate::life::{JobPhase, TaskState};
use crate::session::{
    Census, Condition, ConditionKind, Domains, Job, JobIx, Queue, QueueIx, Quota, Role, Shape,
    ShapeIx, State, Status, Task, TaskIx, Verdict, host_notes,
};
use crate::spec::{JobSpec, PreemptionPolicy, QueueSpec, named_limits, units};
use crate::world::{Pick, Picks, World};
use foldhash::{HashMap, HashMapExt};
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_config::BatchTotal;
use stowplan_engine::HostIx;
use stowplan_ledger::Image;
use stowplan_ledger::image::consumers::Allocation;
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
        if let Some((known, spec)) = self.specs.get_mut(&row.uuid)
            && (Arc::ptr_eq(known, row) || known.spec == row.spec)
        {
            // The next one is known by its address.
            known.clone_from(row);
            return Ok(spec.clone());
        }
        let spec = Arc::new(JobSpec::read(&row.spec)?);
        self.specs.insert(row.uuid, (row.clone(), spec.clone()));
        Ok(spec)
    }

    /// Forgets jobs that have ended.
    fn keep_open(&mut self, image: &Image) {
        self.specs.retain(|uuid, _| {
            image.batch.jobs.get(*uuid).is_some_and(|row| is_scheduled(&row.phase))
        });
    }
}

/// A session's state, and what is to be said of jobs that cannot be in it.
pub struct Loaded {
    /// Hosts, queues, and all jobs that have not ended.
    pub state: State,
    /// Jobs that cannot be placed as they are kept.
    pub unreadable: Vec<Verdict>,
}

/// Whether any task waits for a host, and may have one by now.
#[must_use]
pub fn has_work(image: &Image, now: Micros) -> bool {
    let is_placed = |task: &Arc<TaskRow>| {
        image.batch.jobs.by_id(task.job).is_some_and(|job| is_scheduled(&job.phase))
    };
    let waits = |task: &Arc<TaskRow>| is_due(task, now) && task.detail.get("nomination").is_none();
    waiting(image).any(|task| waits(task) && is_placed(task))
}

/// The tasks that wait, in order of creation.
fn waiting(image: &Image) -> impl Iterator<Item = &Arc<TaskRow>> {
    image.batch.tasks_in(TaskState::Pending.as_str())
}

/// The tasks that others leave a host for.
pub(super) fn nominated(image: &Image) -> impl Iterator<Item = &Arc<TaskRow>> {
    waiting(image).filter(|task| task.detail.get("nomination").is_some())
}

/// The jobs that have not ended.
pub fn open_jobs(image: &Image) -> impl Iterator<Item = &Arc<JobRow>> {
    JobPhase::OPEN.into_iter().flat_map(|phase| image.batch.jobs_in(phase.as_str()))
}

/// The jobs that cycles have to do with.
fn scheduled_jobs(image: &Image) -> impl Iterator<Item = &Arc<JobRow>> {
    open_jobs(image).filter(|job| is_scheduled(&job.phase))
}

fn is_scheduled(phase: &str) -> bool {
    JobPhase::named(phase).is_some_and(JobPhase::is_scheduled)
}

/// What a queue may hold at most. The root is without a limit, so that jobs
/// are admitted while others have borrowed what their queue deserves (rule 12);
/// a queue right below it may have what queues share, less what is guaranteed
/// to the others.
fn capability(
    spec: &QueueSpec,
    dims: &Dims,
    total: &Amounts,
    guaranteed: &Amounts,
) -> Option<Amounts> {
    let mut most = units(&spec.capability, dims);
    if spec.parent.as_deref() == Some(ROOT_QUEUE) {
        let own = units(&spec.guarantee.resource, dims);
        for (dim, all) in total.positive() {
            let left = (all - guaranteed.get(dim)).max(0) + own.get(dim);
            let is_given = spec.capability.contains_key(dims.name(dim));
            let limit = if is_given { most.get(dim).min(left) } else { left };
            most.set(dim, limit.min(all));
        }
    }
    let is_limited = most.iter().next().is_some();
    is_limited.then_some(most)
}

/// What can be kept of a promise when there is less than it promises (rule 5).
fn within(promised: Amounts, total: &Amounts) -> Amounts {
    let mut kept = Amounts::new();
    promised.iter().for_each(|(dim, amount)| kept.set(dim, amount.min(total.get(dim))));
    kept
}

/// What batch tasks hold, those that are on their way out included.
fn held_by_tasks(image: &Image, dims: &Dims) -> Amounts {
    let mut sum = Amounts::new();
    for host in image.hosts.iter() {
        for task in image.batch.tasks_on(host.row.uuid) {
            sum.add(&held(image, dims, task.uuid));
        }
    }
    for task in nominated(image) {
        sum.add(&held(image, dims, hold_of(task.uuid)));
    }
    sum
}

/// What a consumer holds and of which providers, by the ledger's books.
fn picks(image: &Image, dims: &Dims, consumer: Uuid) -> Picks {
    let consumer = image.consumers.get(consumer);
    let allocations = consumer.into_iter().flat_map(|consumer| &consumer.allocations);
    let pick = |allocation: &Allocation| {
        let class = image.classes.name(allocation.class);
        let dim = dims.holding(class)?;
        let provider = image.providers.uuid(allocation.provider);
        Some(Pick { dim, provider, amount: allocation.used })
    };
    allocations.filter_map(pick).collect()
}

/// The same by dimension.
fn sum(picks: &[Pick]) -> Amounts {
    let mut sum = Amounts::new();
    for pick in picks {
        sum.set(pick.dim, sum.get(pick.dim) + pick.amount);
    }
    sum
}

fn held(image: &Image, dims: &Dims, consumer: Uuid) -> Amounts {
    sum(&picks(image, dims, consumer))
}

/// How an image is read.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The dimensions of requests.
    pub dims: Arc<Dims>,
    /// What queues share.
    pub shares: BatchTotal,
    /// A task that was evicted for others twice within so many microseconds is
    /// spared until they are over.
    pub loop_window: i64,
}

/// Reads an image into a session's state. Queues share what hosts have, less
/// what others than tasks hold there unless it is said otherwise.
#[must_use]
pub fn load(image: &Image, options: &LoadOptions, cache: &mut SpecCache, now: Micros) -> Loaded {
    let LoadOptions { dims, shares, loop_window } = options;
    let world = World::from_image(image, dims.clone());
    let used = world.total_used();
    let mut state = State::new(world, now);
    if *shares == BatchTotal::Available {
        state.set_foreign(used.exceeded(&held_by_tasks(image, dims)));
    }
    let total = state.total();
    let tree = Tree::of(image);
    let mut guaranteed = Amounts::new();
    for spec in tree.children(ROOT_QUEUE).filter_map(|name| tree.spec(name)) {
        guaranteed.add(&units(&spec.guarantee.resource, dims));
    }
    state.quotas = quotas(image)
        .map(|quota| Quota {
            hard: named_limits(&quota.hard, dims),
            project: quota.project,
            used: None,
        })
        .collect();
    let mut queues = HashMap::new();
    let mut queues_differ = false;
    for row in image.batch.queues() {
        let spec = QueueSpec::read(&row.spec);
        queues_differ |= spec.affinity.is_some() || !spec.node_group_limits.is_empty();
        let open = |name: &&str| image.batch.queue(name).is_some_and(|row| row.state == "Open");
        let queue = Queue {
            priority: spec.priority,
            created: row.created,
            open: tree.path(&row.name).iter().all(open),
            weight: spec.weight,
            capability: capability(&spec, dims, &total, &guaranteed),
            deserved: units(&spec.deserved, dims),
            guarantee: within(units(&spec.guarantee.resource, dims), &total),
            reclaimable: spec.reclaimable,
            parent: spec.parent,
            hierarchy: spec.hierarchy,
            hierarchy_weights: spec.hierarchy_weights,
            groups: spec.affinity.map(Arc::new),
            group_limits: spec
                .node_group_limits
                .iter()
                .map(|(group, limits)| (group.clone(), named_limits(limits, dims)))
                .collect(),
            ..Queue::named(&row.name)
        };
        queues.insert(row.name.as_str(), state.add_queue(queue));
    }
    if cache.specs.len() > 2 * scheduled_jobs(image).count() {
        cache.keep_open(image);
    }
    let loop_window = *loop_window;
    state.domains = Domains::new(&state.world, super::domains::inputs(image));
    let mut loader = Loader { image, dims, state, queues, queues_differ, now, loop_window };
    let mut unreadable = Vec::new();
    for row in scheduled_jobs(image) {
        if let Err(why) = loader.job(row, cache) {
            unreadable.push(refused(row, why, image.seq()));
        }
    }
    loader.leaving();
    Loaded { state: loader.state, unreadable }
}

struct Loader<'a> {
    image: &'a Image,
    dims: &'a Dims,
    state: State,
    queues: HashMap<&'a str, QueueIx>,
    /// Whether queues differ in the hosts that they may use.
    queues_differ: bool,
    now: Micros,
    loop_window: i64,
}

impl Loader<'_> {
    fn job(&mut self, row: &Arc<JobRow>, cache: &mut SpecCache) -> Result<(), String> {
        let spec = cache.get(row).map_err(|error| error.to_string())?;
        let queue = self.queues.get(row.queue.as_str()).copied();
        let queue = queue.ok_or_else(|| format!("there is no queue {:?}", row.queue))?;
        let mut shapes = Vec::with_capacity(spec.tasks.len());
        let mut notes = Vec::with_capacity(spec.tasks.len());
        for role in &spec.tasks {
            let request = self.dims.from_classes(&role.charged).map_err(|e| e.to_string())?;
            shapes.push(self.state.shape(Shape {
                request,
                node_selector: Arc::new(role.node_selector.clone()),
                tolerations: Arc::new(role.tolerations.clone()),
                traits: role.trait_rules(self.dims),
                wishes: None,
                hint: spec.hint_of(role).map(|hint| Arc::new(hint.clone().into())),
                queue: self.queues_differ.then_some(queue),
                notes: host_notes(&role.annotations),
            }));
            notes.push(Arc::new(role.notes()));
        }
        let roles = spec.tasks.iter().map(|role| Role {
            name: role.role.clone(),
            min: spec.min_task_member.get(&role.role).copied(),
            census: Census::default(),
        });
        let name = format!("{}/{}", row.namespace, row.name);
        let min_resources = spec.min_resources.as_ref().map(|least| self.dims.from_classes(least));
        let min_resources = min_resources.transpose().map_err(|error| error.to_string())?;
        let job = self.state.add_job(Job {
            created: row.created,
            priority: spec.priority,
            phase: JobPhase::named(&row.phase).unwrap_or(JobPhase::Unknown),
            min_available: spec.min_available,
            min_resources,
            annotations: Arc::new(spec.annotations.clone()),
            budget: spec.budget(),
            roles: roles.collect(),
            ..Job::named(row.uuid, name, queue)
        });
        spec.divide(self.state.job_mut(job));
        for task in self.image.batch.tasks_of(row.id) {
            self.task(job, task, &spec, &shapes, &notes);
        }
        Ok(())
    }

    fn task(
        &mut self,
        job: JobIx,
        row: &TaskRow,
        spec: &JobSpec,
        shapes: &[ShapeIx],
        notes: &[Arc<BTreeMap<String, String>>],
    ) {
        let Some(role) = spec.tasks.iter().position(|role| role.role == row.role) else { return };
        let Some(shape) = shapes.get(role) else { return };
        let Some(asked) = spec.tasks.get(role) else { return };
        if state_of(row) == TaskState::Pending && !is_due(row, self.now) {
            return;
        }
        let group = spec.group_of(self.state.job_mut(job), asked, row.index);
        let host = row.host.and_then(|host| self.host(host));
        let has_devices = host.is_some_and(|host| self.state.world.has_devices(host));
        let task = self.state.add_task(Task {
            uuid: row.uuid,
            name: format!("{}/{}", row.role, row.index),
            job,
            role: role as u32,
            group,
            number: u64::try_from(row.index).ok(),
            created: row.created,
            priority: asked.priority,
            shape: *shape,
            status: Status::from(state_of(row)),
            attempt: row.attempt,
            preemptable: asked.preemptable && !self.is_spared(row),
            may_preempt: asked.preemption_policy != PreemptionPolicy::Never,
            protected: false,
            notes: notes.get(role).cloned().unwrap_or_default(),
            cells: if row.detail.is_null() { Vec::new() } else { TaskDetail::of(row).numa_cells },
            started: started(row),
            host,
            picks: match has_devices {
                true => picks(self.image, self.dims, row.uuid),
                false => Picks::new(),
            },
            nominated: None,
            hint: None,
        });
        self.promise(task, row);
    }

    /// Whether a task is left alone because it was evicted in a loop.
    fn is_spared(&self, row: &TaskRow) -> bool {
        let evicted = TaskDetail::of(row).evicted;
        evicted.is_some_and(|evicted| evicted.is_spared(self.loop_window, self.now))
    }

    /// A nominated task has been promised its host: what is held for it there
    /// is as good as leaving.
    fn promise(&mut self, task: TaskIx, row: &TaskRow) {
        if row.detail.is_null() || state_of(row) != TaskState::Pending {
            return;
        }
        let nomination = TaskDetail::of(row).nomination;
        let Some(host) = nomination.and_then(|it| self.host(it.host)) else { return };
        let hold = picks(self.image, self.dims, hold_of(row.uuid));
        self.state.world.release(host, &sum(&hold), &hold);
        self.state.promise(task, host);
    }

    /// Tasks of jobs that the session does not see and that still have to leave
    /// their hosts.
    fn leaving(&mut self) {
        for host in self.image.hosts.iter() {
            for task in self.image.batch.tasks_on(host.row.uuid) {
                let job = self.image.batch.jobs.by_id(task.job);
                if state_of(task) == TaskState::Releasing
                    && job.is_none_or(|job| !is_scheduled(&job.phase))
                {
                    let picks = picks(self.image, self.dims, task.uuid);
                    self.state.world.release(host.ix, &sum(&picks), &picks);
                }
            }
        }
    }

    fn host(&self, uuid: Uuid) -> Option<HostIx> {
        self.image.hosts.get(uuid).map(|host| host.ix)
    }
}

/// Since when a task runs.
fn started(row: &TaskRow) -> Option<Micros> {
    if row.detail.is_null() { None } else { TaskDetail::of(row).started }
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

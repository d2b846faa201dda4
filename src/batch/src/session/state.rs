//! The state of a session: hosts, queues, jobs, tasks, and the sums over them,
//! which follow every step and its undoing.

mod places;
mod steps;

use super::census::{Census, Status};
use super::domains::Domains;
use super::objects::{Job, JobIx, Queue, QueueIx, ShapeIx, Task, TaskIx};
use super::quota::Quota;
use super::shape::Shape;
use crate::amounts::{Amounts, DimIx, Dims, Quantity};
use crate::fragment::Experience;
use crate::world::World;
use foldhash::{HashMap, HashMapExt};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Index;
use stowplan_engine::hint::HintOutcome;
use stowplan_engine::{HostIx, HostSet, HostView};
use stowplan_model::Micros;

/// A part of the hosts, where several schedulers share them.
#[derive(Clone, Debug)]
pub struct Shard {
    /// Its hosts.
    pub hosts: HostSet,
    /// Whether all others are forbidden, or only the last choice.
    pub hard: bool,
}

/// When things that are done once in a while were last done, by the name of the
/// plugin that asks for them.
pub type Diary = BTreeMap<&'static str, Micros>;

/// All that plugins and actions look at.
#[derive(Clone, Debug)]
pub struct State {
    /// The hosts.
    pub world: World,
    /// The present, as the caller sees it.
    pub now: Micros,
    queues: Vec<Queue>,
    jobs: Vec<Job>,
    tasks: Vec<Task>,
    shapes: Vec<Shape>,
    /// By how much tasks of a shape count for more than they ask for when
    /// hosts are scored by how full they are.
    paddings: Vec<Amounts>,
    shape_numbers: HashMap<Shape, ShapeIx>,
    /// Tasks on each host, those on their way out or still to come included.
    residents: Vec<Vec<TaskIx>>,
    /// What others than tasks hold, of what queues share.
    foreign: Amounts,
    /// What was learnt of the tasks that arrive, for plugins that look ahead.
    pub experience: Experience,
    /// The hosts that this scheduler should keep to.
    pub shard: Option<Shard>,
    /// Quotas of projects.
    pub quotas: Vec<Quota>,
    /// What earlier cycles have left to remember.
    pub diary: Diary,
    /// Which hosts are near to each other.
    pub domains: Domains,
    /// Tasks that took room in this session, whatever became of it.
    placed: BTreeSet<TaskIx>,
    /// Tasks that were evicted in this session.
    evicted: BTreeSet<TaskIx>,
}

impl State {
    /// Hosts, and nothing to place on them yet.
    #[must_use]
    pub fn new(world: World, now: Micros) -> Self {
        Self {
            residents: vec![Vec::new(); world.slots()],
            paddings: Vec::new(),
            foreign: Amounts::new(),
            experience: Experience::default(),
            shard: None,
            quotas: Vec::new(),
            diary: Diary::new(),
            domains: Domains::new(&world, Vec::new()),
            world,
            now,
            queues: Vec::new(),
            jobs: Vec::new(),
            tasks: Vec::new(),
            shapes: Vec::new(),
            shape_numbers: HashMap::new(),
            placed: BTreeSet::new(),
            evicted: BTreeSet::new(),
        }
    }

    /// Adds a queue.
    pub fn add_queue(&mut self, queue: Queue) -> QueueIx {
        self.queues.push(queue);
        QueueIx(self.queues.len() as u32 - 1)
    }

    /// Adds a job; its tasks follow by [`State::add_task`].
    pub fn add_job(&mut self, job: Job) -> JobIx {
        self.jobs.push(job);
        JobIx(self.jobs.len() as u32 - 1)
    }

    /// Leaves out of what queues share what others than tasks hold.
    pub fn set_foreign(&mut self, held: Amounts) {
        self.foreign = held;
    }

    /// What queues share.
    #[must_use]
    pub fn total(&self) -> Amounts {
        self.world.total().exceeded(&self.foreign)
    }

    /// What of it is in use.
    #[must_use]
    pub fn used(&self) -> Amounts {
        self.world.total_used().exceeded(&self.foreign)
    }

    /// Adds a task to its job. What it holds already is counted by the world.
    pub fn add_task(&mut self, task: Task) -> TaskIx {
        let at = TaskIx(self.tasks.len() as u32);
        let shape = &self.shapes[task.shape.index()];
        if task.status == Status::Releasing
            && let Some(host) = task.host
        {
            self.world.release(host, &shape.request, &task.picks);
        }
        let job = &mut self.jobs[task.job.index()];
        job.tasks.push(at);
        if let Some(group) = job.groups.get_mut(task.group.index()) {
            group.priority = group.priority.max(task.priority);
        }
        enter(job, &task, shape, 1);
        if let Some(host) = task.host.filter(|_| task.status.is_on_host()) {
            self.world.pad(host, &self.paddings[task.shape.index()], 1);
            self.residents[host.index()].push(at);
        }
        self.tasks.push(task);
        at
    }

    /// The number of a shape, given anew unless it is known.
    pub fn shape(&mut self, shape: Shape) -> ShapeIx {
        if let Some(known) = self.shape_numbers.get(&shape) {
            return *known;
        }
        let number = ShapeIx(self.shapes.len() as u32);
        self.paddings.push(padding(self.world.dims(), &shape.request));
        self.shapes.push(shape.clone());
        self.shape_numbers.insert(shape, number);
        number
    }

    /// All queues.
    pub fn queues(&self) -> impl Iterator<Item = QueueIx> + use<> {
        (0..self.queues.len() as u32).map(QueueIx)
    }

    /// All jobs that actions see.
    pub fn jobs(&self) -> impl Iterator<Item = JobIx> + '_ {
        let listed = self.jobs.iter().enumerate().filter(|(_, job)| job.listed);
        listed.map(|(at, _)| JobIx(at as u32))
    }

    /// How many jobs there are, those that no action sees included.
    #[must_use]
    pub fn job_count(&self) -> usize {
        self.jobs.len()
    }

    /// Tasks on a host, those on their way out or still to come included, in
    /// no particular order.
    #[must_use]
    pub fn residents(&self, host: HostIx) -> &[TaskIx] {
        self.residents.get(host.index()).map_or(&[], Vec::as_slice)
    }

    /// By how much tasks of a shape count for more than they ask for when
    /// hosts are scored by how full they are.
    #[must_use]
    pub fn padding(&self, shape: ShapeIx) -> &Amounts {
        &self.paddings[shape.index()]
    }

    /// How many shapes there are.
    #[must_use]
    pub fn shapes(&self) -> usize {
        self.shapes.len()
    }

    /// All shapes.
    #[must_use]
    pub fn all_shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Whether a task is on its way out because it was evicted in this session.
    #[must_use]
    pub fn is_evicted(&self, task: TaskIx) -> bool {
        self.evicted.contains(&task)
    }

    /// The shape of a task.
    #[must_use]
    pub fn shape_of(&self, task: TaskIx) -> &Shape {
        &self.shapes[self[task].shape.index()]
    }

    /// Notes what became of a task's hint.
    pub(super) fn note_hint(&mut self, task: TaskIx, outcome: Option<HintOutcome>) {
        self.tasks[task.index()].hint = outcome;
    }

    /// What tasks ask for together.
    #[must_use]
    pub fn asked_by<'t>(&self, tasks: impl IntoIterator<Item = &'t TaskIx>) -> Amounts {
        let mut sum = Amounts::new();
        tasks.into_iter().for_each(|task| sum.add(&self.shape_of(*task).request));
        sum
    }

    /// A job, to change what does not follow from its tasks.
    pub fn job_mut(&mut self, job: JobIx) -> &mut Job {
        &mut self.jobs[job.index()]
    }

    /// What is counted by state, compared with counting it afresh: the first
    /// difference in words. For tests and debug builds.
    #[must_use]
    pub fn audit(&self) -> Option<String> {
        for job in &self.jobs {
            let mut fresh = job.clone();
            (fresh.census, fresh.allocated) = (Census::default(), Amounts::new());
            for role in &mut fresh.roles {
                role.census = Census::default();
            }
            for group in &mut fresh.groups {
                group.census = Census::default();
            }
            for task in &job.tasks {
                enter(&mut fresh, &self[*task], self.shape_of(*task), 1);
            }
            let held = |job: &Job| job.allocated.positive().collect::<Vec<_>>();
            let groups = |job: &Job| job.groups.iter().map(|it| it.census).collect::<Vec<_>>();
            if fresh.census != job.census
                || fresh.roles != job.roles
                || groups(&fresh) != groups(job)
                || held(&fresh) != held(job)
            {
                return Some(format!("the sums of job {} do not follow its tasks", job.name));
            }
        }
        None
    }
}

/// What a task without a request for cpu or memory is taken to use, where
/// hosts are scored by how full they are (the peer's figures).
fn padding(dims: &Dims, request: &Amounts) -> Amounts {
    let floors = [(DimIx::CPU, Quantity::milli(100)), (DimIx::MEMORY, Quantity::units(200 << 20))];
    let mut padding = Amounts::new();
    for (dim, floor) in floors {
        if request.get(dim) == 0 {
            padding.set(dim, floor.quanta(dims.quantum(dim)));
        }
    }
    padding
}

/// Counts a task in its job, role and sub-group, or takes it out (`sign` -1).
fn enter(job: &mut Job, task: &Task, shape: &Shape, sign: i32) {
    job.census.count(task.status, shape.is_best_effort(), sign);
    if let Some(role) = job.roles.get_mut(task.role as usize) {
        role.census.count(task.status, shape.is_best_effort(), sign);
    }
    if let Some(group) = job.groups.get_mut(task.group.index()) {
        group.census.count(task.status, shape.is_best_effort(), sign);
    }
    if task.status.is_allocated() {
        if sign > 0 {
            job.allocated.add(&shape.request);
        } else {
            job.allocated.sub(&shape.request);
        }
    }
}

macro_rules! index {
    ($($ix:ident => $field:ident: $object:ident,)+) => {$(
        impl Index<$ix> for State {
            type Output = $object;

            fn index(&self, at: $ix) -> &$object {
                &self.$field[at.index()]
            }
        }
    )+};
}

index! {
    QueueIx => queues: Queue,
    JobIx => jobs: Job,
    TaskIx => tasks: Task,
    ShapeIx => shapes: Shape,
}

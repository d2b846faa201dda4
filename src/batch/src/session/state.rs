//! The state of a session: hosts, queues, jobs, tasks, and the sums over them,
//! which follow every step and its undoing.

use super::objects::{Job, JobIx, Queue, QueueIx, Shape, ShapeIx, Status, Task, TaskIx};
use crate::amounts::Amounts;
use crate::world::{News, World};
use foldhash::{HashMap, HashMapExt};
use std::collections::BTreeSet;
use std::ops::Index;
use stowplan_engine::{HostIx, HostView};
use stowplan_model::Micros;

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
    shape_numbers: HashMap<Shape, ShapeIx>,
    /// Tasks that took room in this session, whatever became of it.
    placed: BTreeSet<TaskIx>,
}

impl State {
    /// Hosts, and nothing to place on them yet.
    #[must_use]
    pub fn new(world: World, now: Micros) -> Self {
        Self {
            world,
            now,
            queues: Vec::new(),
            jobs: Vec::new(),
            tasks: Vec::new(),
            shapes: Vec::new(),
            shape_numbers: HashMap::new(),
            placed: BTreeSet::new(),
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

    /// Adds a task to its job. What it holds already is counted by the world.
    pub fn add_task(&mut self, task: Task) -> TaskIx {
        let at = TaskIx(self.tasks.len() as u32);
        let shape = &self.shapes[task.shape.index()];
        if task.status == Status::Releasing
            && let Some(host) = task.host
        {
            self.world.release(host, &shape.request);
        }
        let job = &mut self.jobs[task.job.index()];
        job.tasks.push(at);
        enter(job, &task, shape, 1);
        self.tasks.push(task);
        at
    }

    /// The number of a shape, given anew unless it is known.
    pub fn shape(&mut self, shape: Shape) -> ShapeIx {
        if let Some(known) = self.shape_numbers.get(&shape) {
            return *known;
        }
        let number = ShapeIx(self.shapes.len() as u32);
        self.shapes.push(shape.clone());
        self.shape_numbers.insert(shape, number);
        number
    }

    /// All queues.
    pub fn queues(&self) -> impl Iterator<Item = QueueIx> + use<> {
        (0..self.queues.len() as u32).map(QueueIx)
    }

    /// All jobs.
    pub fn jobs(&self) -> impl Iterator<Item = JobIx> + use<> {
        (0..self.jobs.len() as u32).map(JobIx)
    }

    /// How many shapes there are.
    #[must_use]
    pub fn shapes(&self) -> usize {
        self.shapes.len()
    }

    /// The shape of a task.
    #[must_use]
    pub fn shape_of(&self, task: TaskIx) -> &Shape {
        &self.shapes[self[task].shape.index()]
    }

    /// A job, to change what does not follow from its tasks.
    pub fn job_mut(&mut self, job: JobIx) -> &mut Job {
        &mut self.jobs[job.index()]
    }

    /// Gives a task room on a host; whether there was enough.
    pub fn place(&mut self, task: TaskIx, host: HostIx) -> bool {
        let at = &mut self.tasks[task.index()];
        let request = &self.shapes[at.shape.index()].request;
        let Some(picks) = self.world.take(host, request) else { return false };
        (at.host, at.picks) = (Some(host), picks);
        self.placed.insert(task);
        self.set_status(task, Status::Allocated);
        true
    }

    /// Promises a task room on a host that others are leaving.
    pub fn promise(&mut self, task: TaskIx, host: HostIx) {
        let at = &mut self.tasks[task.index()];
        at.host = Some(host);
        self.world.promise(host, &self.shapes[at.shape.index()].request, 1);
        self.set_status(task, Status::Pipelined);
    }

    /// Takes room or promise of this session back: the task is pending again.
    pub fn unplace(&mut self, task: TaskIx) {
        let at = &mut self.tasks[task.index()];
        let request = &self.shapes[at.shape.index()].request;
        if let Some(host) = at.host.take() {
            if at.status == Status::Pipelined {
                self.world.promise(host, request, -1);
            } else {
                self.world.give_back(host, request, &at.picks);
            }
        }
        at.picks.clear();
        self.placed.remove(&task);
        self.set_status(task, Status::Pending);
    }

    /// Moves a task to another state, with all that is counted by state.
    pub fn set_status(&mut self, task: TaskIx, status: Status) {
        let at = &mut self.tasks[task.index()];
        let shape = &self.shapes[at.shape.index()];
        let job = &mut self.jobs[at.job.index()];
        enter(job, at, shape, -1);
        at.status = status;
        enter(job, at, shape, 1);
    }

    /// Reads hosts anew, and holds again what tasks of this session took there
    /// that the news do not count yet.
    pub fn refresh(&mut self, hosts: &[HostIx], news: &dyn News) {
        for host in hosts {
            let uuid = self.world.facts(*host).uuid;
            let fresh = news.host(uuid, self.world.dims()).unwrap_or_default();
            self.world.load(*host, fresh);
            for task in &self.placed {
                let task = &self.tasks[task.index()];
                if task.host == Some(*host) && !news.counts(task.uuid) {
                    let request = &self.shapes[task.shape.index()].request;
                    self.world.hold_again(*host, request, &task.picks);
                }
            }
        }
    }

    /// What is counted by state, compared with counting it afresh: the first
    /// difference in words. For tests and debug builds.
    #[must_use]
    pub fn audit(&self) -> Option<String> {
        for job in &self.jobs {
            let mut fresh = job.clone();
            (fresh.census, fresh.allocated) = (super::objects::Census::default(), Amounts::new());
            for role in &mut fresh.roles {
                role.census = super::objects::Census::default();
            }
            for task in &job.tasks {
                enter(&mut fresh, &self[*task], self.shape_of(*task), 1);
            }
            let held = |job: &Job| job.allocated.positive().collect::<Vec<_>>();
            if fresh.census != job.census || fresh.roles != job.roles || held(&fresh) != held(job) {
                return Some(format!("the sums of job {} do not follow its tasks", job.name));
            }
        }
        None
    }
}

/// Counts a task in its job and role, or takes it out (`sign` -1).
fn enter(job: &mut Job, task: &Task, shape: &Shape, sign: i32) {
    job.census.count(task.status, shape.is_best_effort(), sign);
    if let Some(role) = job.roles.get_mut(task.role as usize) {
        role.census.count(task.status, shape.is_best_effort(), sign);
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

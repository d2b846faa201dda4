//! `allocate`: gives tasks with requests their hosts, job by job.

use super::grouped::place_groups;
use super::sheet::Sheet;
use super::{Action, Lines, may_be_placed, waiting};
use crate::session::{
    DomainIx, GroupIx, JobIx, Place, QueueIx, Session, Statement, Status, TaskIx,
};
use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;

/// Takes queues in their order and from each one job at a time: its tasks are
/// placed until it has its minimum, then it goes back into the line and gets
/// one more at a time. A job that cannot get its minimum gets nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocate;

/// The tasks of a job that this action has still to look at.
enum Worksheet {
    /// One after the other.
    Plain(VecDeque<TaskIx>),
    /// Sub-group by sub-group.
    Grouped(Sheet),
}

impl Worksheet {
    fn of(session: &Session<'_>, job: JobIx) -> Self {
        if session.state[job].is_grouped() {
            return Self::Grouped(Sheet::of(session, job));
        }
        let asks = |task| !session.state.shape_of(task).is_best_effort();
        Self::Plain(waiting(session, job, asks).into())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Plain(tasks) => tasks.is_empty(),
            Self::Grouped(sheet) => sheet.is_empty(),
        }
    }
}

impl Action for Allocate {
    fn name(&self) -> &'static str {
        "allocate"
    }

    fn run(&self, session: &mut Session<'_>) {
        let mut jobs: Vec<JobIx> = session.state.jobs().collect();
        while !jobs.is_empty() {
            serve(session, &jobs);
            // What was refused at commit is tried again on fresh hosts.
            jobs = session.settle(true);
            for job in &jobs {
                session.state.job_mut(*job).failed_roles.clear();
            }
        }
    }
}

fn serve(session: &mut Session<'_>, jobs: &[JobIx]) {
    let mut sheets: HashMap<JobIx, Worksheet> = HashMap::new();
    for &job in jobs {
        if may_be_placed(session, job) {
            let sheet = Worksheet::of(session, job);
            if !sheet.is_empty() {
                sheets.insert(job, sheet);
            }
        }
    }
    let listed = jobs.iter().copied().filter(|job| sheets.contains_key(job));
    let mut lines = Lines::of(session, listed);
    while let Some(queue) = lines.pop_queue(session) {
        if session.tiers.overused(&session.state, queue) {
            continue;
        }
        let Some(job) = lines.pop_job(session, queue) else { continue };
        let Some(sheet) = sheets.get_mut(&job) else { continue };
        let statement = match sheet {
            Worksheet::Plain(tasks) => {
                let mut statement = Statement::new(job);
                place_tasks(session, &mut statement, Part::all_of(job), tasks);
                Some(statement)
            }
            Worksheet::Grouped(sheet) => place_groups(session, job, sheet),
        };
        let Some(statement) = statement else {
            lines.push_queue(session, queue);
            continue;
        };
        if session.is_ready(job) {
            session.commit(statement);
            if !sheet.is_empty() {
                lines.push_job(session, job);
            }
        } else if session.is_pipelined(job) {
            session.keep(statement);
        } else {
            session.discard(statement);
        }
        lines.push_queue(session, queue);
    }
}

/// What is placed together, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) job: JobIx,
    /// A sub-group, within a domain; none: all of the job, anywhere.
    pub(super) within: Option<(GroupIx, DomainIx)>,
}

impl Part {
    pub(super) const fn all_of(job: JobIx) -> Self {
        Self { job, within: None }
    }

    fn is_ready(self, session: &Session<'_>) -> bool {
        match self.within {
            None => session.is_ready(self.job),
            Some((group, _)) => session.tiers.group_ready(&session.state, self.job, group),
        }
    }
}

/// Places tasks until the part has its minimum, nothing is left to place, or
/// nothing that is left can help.
pub(super) fn place_tasks(
    session: &mut Session<'_>,
    statement: &mut Statement,
    part: Part,
    sheet: &mut VecDeque<TaskIx>,
) {
    let job = part.job;
    while let Some(task) = sheet.pop_front() {
        let (queue, role) = (session.state[job].queue, session.state[task].role);
        if !session.tiers.allocatable(&session.state, queue, task) {
            hold_back(session, job, queue, task);
            continue;
        }
        if has_failed(session, job, role) {
            continue;
        }
        if !place(session, statement, part, task) {
            let failed = &mut session.state.job_mut(job).failed_roles;
            if !failed.contains(&role) {
                failed.push(role);
            }
            if may_continue(session, part) {
                continue;
            }
            return;
        }
        if part.is_ready(session) {
            return;
        }
    }
}

/// Notes why the queue could not take a task, once per job.
fn hold_back(session: &mut Session<'_>, job: JobIx, queue: QueueIx, task: TaskIx) {
    if session.state[job].held_back.is_none() {
        let why = session.tiers.queue_objection(&session.state, queue, task);
        session.state.job_mut(job).held_back = Some(why);
    }
}

/// Whether a task of that role has found no host in this cycle; then another
/// one of it will not either. Tasks without a role differ from each other.
fn has_failed(session: &Session<'_>, job: JobIx, role: u32) -> bool {
    let at = &session.state[job];
    let named = at.roles.get(role as usize).is_some_and(|role| !role.name.is_empty());
    named && at.failed_roles.contains(&role)
}

/// Gives a task the best host that has room now, else promises it the best of
/// those where others are leaving.
fn place(session: &mut Session<'_>, statement: &mut Statement, part: Part, task: TaskIx) -> bool {
    let best = match part.within {
        None => session.best_host(task),
        Some((_, domain)) => session.best_host_in(task, domain),
    };
    let (host, placed) = match best {
        Ok(Some(Place::Now(host))) => (host, session.allocate(statement, task, host)),
        Ok(Some(Place::Later(host))) => {
            session.pipeline(statement, task, host);
            (host, true)
        }
        Ok(None) | Err(_) => return false,
    };
    if placed && let Some((group, _)) = part.within {
        session.state.draw_near(part.job, group, host);
    }
    placed
}

/// Whether a part whose task found no host can still get its minimum.
fn may_continue(session: &Session<'_>, part: Part) -> bool {
    let at = &session.state[part.job];
    if at.min_available == at.census.all() {
        return false;
    }
    let group = part.within.and_then(|(group, _)| at.group(group));
    if group.is_some_and(|group| group.min >= group.census.all()) {
        return false;
    }
    if !at.policies.is_empty() {
        return true;
    }
    let failed = |role: usize| at.failed_roles.contains(&(role as u32));
    if at.min_available < at.role_minima() {
        let hopeful = at.roles.iter().enumerate().filter(|(number, _)| !failed(*number));
        let pending: u32 = hopeful.map(|(_, role)| role.census.get(Status::Pending)).sum();
        return at.census.ready() + pending >= at.min_available;
    }
    at.roles.iter().enumerate().filter(|(number, _)| failed(*number)).all(|(_, role)| {
        let has = role.census.ready() + role.census.best_effort();
        role.min.is_none_or(|min| has >= min)
    })
}

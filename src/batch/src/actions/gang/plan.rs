//! Room for all tasks of a job in a domain, once certain tasks have left.

use crate::actions::sheet::Sheet;
use crate::session::{DomainIx, GroupIx, JobIx, Purpose, Replay, Session, Statement, TaskIx};

/// The tasks that room is made for: all that wait; of a job that has its
/// minimum, those of the first sub-group.
pub(super) fn pending(session: &Session<'_>, job: JobIx) -> Vec<TaskIx> {
    let mut sheet = Sheet::of(session, job);
    let mut tasks = Vec::new();
    while let Some(group) = sheet.pop(session) {
        tasks.extend(sheet.tasks(group));
        if session.is_ready(job) {
            break;
        }
    }
    tasks
}

/// Where the job's tasks would find room once tasks have left; none when not all
/// of a sub-group find some, or the job has not its minimum then.
pub(super) fn places(
    session: &mut Session<'_>,
    job: JobIx,
    domain: DomainIx,
    victims: &[TaskIx],
) -> Option<Replay> {
    let mut sheet = Sheet::of(session, job);
    let was_ready = session.is_ready(job);
    let mut statement = Statement::new(job);
    victims.iter().for_each(|victim| session.evict(&mut statement, *victim));
    let mut done = false;
    while let Some(group) = sheet.pop(session) {
        let tasks: Vec<TaskIx> = sheet.tasks(group).iter().copied().collect();
        let Some(steps) = place_group(session, job, group, &tasks, domain) else {
            done = false;
            break;
        };
        statement.merge(steps);
        done = session.is_pipelined(job);
        if was_ready || done {
            break;
        }
    }
    let places = session.recorded(&statement);
    session.discard(statement);
    done.then_some(places)
}

/// The first domain inside that of the job that takes all of a sub-group.
fn place_group(
    session: &mut Session<'_>,
    job: JobIx,
    group: GroupIx,
    tasks: &[TaskIx],
    within: DomainIx,
) -> Option<Statement> {
    let lists = match session.state[job].is_grouped() {
        true => session.domains_for_group(job, group, within, Purpose::Evict),
        false => vec![vec![within]],
    };
    lists.into_iter().flatten().find_map(|domain| place_all(session, job, group, tasks, domain))
}

fn place_all(
    session: &mut Session<'_>,
    job: JobIx,
    group: GroupIx,
    tasks: &[TaskIx],
    domain: DomainIx,
) -> Option<Statement> {
    let queue = session.state[job].queue;
    let mut steps = Statement::new(job);
    for &task in tasks {
        let allowed = session.tiers.allocatable(&session.state, queue, task);
        let host = if allowed { session.future_host_in(task, domain).ok().flatten() } else { None };
        let Some(host) = host else {
            session.discard(steps);
            return None;
        };
        session.pipeline(&mut steps, task, host);
    }
    let (state, tiers) = (&session.state, &session.tiers);
    if tiers.group_ready(state, job, group) || tiers.group_pipelined(state, job, group) {
        return Some(steps);
    }
    session.discard(steps);
    None
}

//! Room made for one task on one host, by as few evictions as will do
//! (rule 15).

use super::evict::{Hunt, Unit};
use crate::amounts::Amounts;
use crate::session::{Eviction, JobIx, Session, Statement, TaskIx};
use stowplan_engine::HostIx;

/// A host with the tasks that would have to leave for a task to go there.
struct Plan {
    host: HostIx,
    victims: Vec<TaskIx>,
}

/// Makes room on the host where the fewest have to leave, the first of equals,
/// and promises it to the task; whether there is such a host.
pub(super) fn make_room(
    session: &mut Session<'_>,
    statement: &mut Statement,
    hunt: &Hunt<'_>,
    hosts: &[HostIx],
) -> bool {
    let mut best: Option<Plan> = None;
    for &host in hosts {
        let most = best.as_ref().map_or(usize::MAX, |best| best.victims.len());
        if most == 0 {
            break;
        }
        if let Some(victims) = plan(session, hunt, host, most) {
            best = Some(Plan { host, victims });
        }
    }
    let Some(Plan { host, victims }) = best else { return false };
    victims.into_iter().for_each(|victim| session.evict(statement, victim));
    session.pipeline(statement, hunt.task, host);
    true
}

/// Who would have to leave a host: the shortest prefix in victim order that
/// makes room, less those that it makes room without. None when that takes
/// `most` tasks or more.
fn plan(
    session: &mut Session<'_>,
    hunt: &Hunt<'_>,
    host: HostIx,
    most: usize,
) -> Option<Vec<TaskIx>> {
    let candidates = hunt.candidates(session, host);
    if candidates.is_empty() && hunt.eviction == Eviction::Reclaim {
        return None;
    }
    let units = hunt.units(session, &candidates);
    if !could_suffice(session, hunt.task, host, &units) {
        return None;
    }
    let mut trial = Statement::new(session.state[hunt.task].job);
    let mut gone: Vec<&Unit> = Vec::new();
    let mut left = units.iter();
    let mut fits = fits(session, hunt, host);
    while !fits && let Some(unit) = left.next() {
        unit.tasks.iter().for_each(|task| session.evict(&mut trial, *task));
        gone.push(unit);
        fits = self::fits(session, hunt, host);
    }
    if fits && let Some(last) = gone.pop() {
        // Without the last one it did not fit: the prefix is the shortest.
        let whole = last.whole.into_iter().collect();
        spare(session, hunt, host, &mut trial, gone.into_iter().rev(), whole);
    }
    let victims: Vec<TaskIx> = trial.victims().collect();
    session.discard(trial);
    (fits && victims.len() < most).then_some(victims)
}

/// Whether a task would find room if all units left.
fn could_suffice(session: &Session<'_>, task: TaskIx, host: HostIx, units: &[Unit]) -> bool {
    let state = &session.state;
    let mut freed = Amounts::new();
    for task in units.iter().flat_map(|unit| &unit.tasks) {
        if state[*task].host == Some(host) {
            freed.add(&state.shape_of(*task).request);
        }
    }
    let request = &state.shape_of(task).request;
    let room = |dim| state.world.future_idle(dim, host) + freed.get(dim);
    if request.is_empty() { request.fits(room) } else { request.within(room) }
}

/// Whether the task could go to the host as things stand. Reclaim asks the
/// queue before it looks for hosts.
pub(super) fn fits(session: &mut Session<'_>, hunt: &Hunt<'_>, host: HostIx) -> bool {
    let queue = session.state[session.state[hunt.task].job].queue;
    let (allowed, counting) = match hunt.eviction {
        Eviction::Preempt => (session.tiers.allocatable(&session.state, queue, hunt.task), true),
        Eviction::Reclaim => (true, false),
    };
    allowed && session.could_go(hunt.task, host, counting).unwrap_or(false)
}

/// Lets those stay who need not leave, one unit after the other. What a job
/// could spare goes along with it when the job goes as a whole.
pub(super) fn spare<'u>(
    session: &mut Session<'_>,
    hunt: &Hunt<'_>,
    host: HostIx,
    trial: &mut Statement,
    units: impl Iterator<Item = &'u Unit>,
    mut whole: Vec<JobIx>,
) {
    for unit in units {
        let job = unit.tasks.first().map(|task| session.state[*task].job);
        let goes_along = unit.whole.is_none() && job.is_some_and(|job| whole.contains(&job));
        if !goes_along {
            unit.tasks.iter().for_each(|task| session.spare(trial, *task));
            if fits(session, hunt, host) {
                continue;
            }
            unit.tasks.iter().for_each(|task| session.evict(trial, *task));
        }
        whole.extend(unit.whole);
    }
}

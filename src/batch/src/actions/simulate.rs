//! The topology-aware form of preemption: hosts are compared by who would have
//! to leave, after trials on a bounded number of them.

use super::evict::{Hunt, Unit};
use super::room::{fits, spare};
use crate::plugins::{ArgumentFault, Arguments};
use crate::session::{Point, Session, Statement, TaskIx};
use std::cmp::Reverse;
use stowplan_engine::HostIx;

/// What is added to each priority, so that their sum grows with their number
/// (the peer's way).
const OFFSET: i64 = 1 << 31;

/// Bounds of the trials: how many hosts with victims are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simulation {
    percentage: i64,
    least: i64,
    most: i64,
}

impl Simulation {
    /// From the arguments of `[batch:preempt]`; none when it is switched off,
    /// as it is by default.
    pub(super) fn new(arguments: &Arguments) -> Result<Option<Self>, ArgumentFault> {
        // Trials are run one after the other, so there is nobody to count.
        arguments.number("topologyAwarePreemptWorkerNum", 16)?;
        let bounds = Self {
            percentage: arguments.number("minCandidateNodesPercentage", 10)?,
            least: arguments.number("minCandidateNodesAbsolute", 1)?,
            most: arguments.number("maxCandidateNodesAbsolute", 100)?,
        };
        Ok(arguments.switch("enableTopologyAwarePreemption", false)?.then_some(bounds))
    }

    fn enough(&self, hosts: usize) -> usize {
        let part = hosts as i64 * self.percentage / 100;
        usize::try_from(part.max(self.least).min(self.most)).unwrap_or_default()
    }
}

/// Who would have to leave a host, the most important first.
struct Trial {
    host: HostIx,
    victims: Vec<TaskIx>,
}

/// Tries hosts in order of name until enough of them would do, and makes room
/// on the best; whether there is one. At least one task must leave.
pub(super) fn simulate(
    session: &mut Session<'_>,
    statement: &mut Statement,
    hunt: &Hunt<'_>,
    simulation: &Simulation,
    hosts: &[HostIx],
) -> bool {
    let enough = simulation.enough(session.state.world.order().len());
    let mut trials = Vec::new();
    for &host in hosts {
        if trials.len() >= enough {
            break;
        }
        trials.extend(trial(session, hunt, host).filter(|trial| !trial.victims.is_empty()));
    }
    let best = trials.into_iter().min_by_key(|trial| cost(session, trial));
    let Some(Trial { host, victims }) = best else { return false };
    victims.into_iter().for_each(|victim| session.evict(statement, victim));
    session.pipeline(statement, hunt.task, host);
    true
}

/// The highest priority among those who would leave, the sum of their
/// priorities, how many they are; the younger the better.
fn cost(session: &Session<'_>, trial: &Trial) -> (i64, i64, usize, Reverse<i64>) {
    let state = &session.state;
    let priorities = trial.victims.iter().map(|task| state[*task].priority);
    let highest = priorities.clone().max().unwrap_or(i64::MIN);
    let sum = priorities.map(|priority| priority.saturating_add(OFFSET)).sum();
    let top = trial.victims.iter().filter(|task| state[**task].priority == highest);
    let started = top.map(|task| state[*task].created.0).min().unwrap_or_default();
    (highest, sum, trial.victims.len(), Reverse(started))
}

/// Lets tasks leave in victim order until the task fits, then gives back, the
/// most important first, to those that it fits without.
fn trial(session: &mut Session<'_>, hunt: &Hunt<'_>, host: HostIx) -> Option<Trial> {
    // The peer's simulation shows the removal to predicates on other tasks only
    // if one of these switches of the plugin predicates is on.
    let seen = session.tiers.grants("predicates", &[Point::Preemptable, Point::Allocatable]);
    if !seen && !session.passes_others(hunt.task, host).unwrap_or(false) {
        return None;
    }
    let candidates = hunt.candidates(session, host);
    let units = hunt.units(session, &candidates);
    let mut trial = Statement::new(session.state[hunt.task].job);
    let mut left = units.iter();
    let mut gone = Vec::new();
    let mut enough = fits(session, hunt, host);
    while !enough && let Some(unit) = left.next() {
        unit.tasks.iter().for_each(|task| session.evict(&mut trial, *task));
        gone.push(unit);
        enough = fits(session, hunt, host);
    }
    if enough {
        let importance = |unit: &&Unit| {
            Reverse(unit.tasks.iter().map(|task| session.state[*task].priority).max())
        };
        gone.sort_by_key(importance);
        let whole = gone.iter().filter_map(|unit| unit.whole).collect();
        spare(session, hunt, host, &mut trial, gone.into_iter(), whole);
    }
    let victims = trial.victims().collect();
    session.discard(trial);
    enough.then_some(Trial { host, victims })
}

//! The best host among those of a domain, where scores depend on where hosts
//! are.
//!
//! What a shape scores on each host is kept by its index, as for any other
//! task; what domains add is the same for all hosts of a cell, so it is asked
//! once per cell.

use super::finder::{Finder, Place};
use super::objects::{CellIx, DomainIx, TaskIx};
use super::plugin::NodePredicate;
use super::scoring::scores;
use super::state::State;
use super::tiers::Tiers;
use stowplan_engine::HostIx;
use stowplan_engine::fault::Fault;

/// A cell with how many of the hosts that are compared are in it.
pub type Occupied = (CellIx, usize);

impl Finder {
    /// The best host for a task among those of a domain: of those with room
    /// now, else of those that will have room; the first by name of equals.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub(super) fn best_in(
        &mut self,
        state: &State,
        tiers: &Tiers,
        task: TaskIx,
        domain: DomainIx,
    ) -> Result<Option<Place>, Fault> {
        let shape = state[task].shape;
        let hosts = &state.domains.get(domain).hosts;
        // What is scored for this task alone is not what the shape is indexed by.
        let alike = tiers.task_scores(state, task).next().is_none();
        if alike && let Some(scored) = self.scored(state, tiers, shape, hosts)? {
            if let Some(host) = favourite(state, tiers, task, &scored) {
                return Ok(Some(Place::Now(host)));
            }
            if !state.world.is_releasing() {
                return Ok(None);
            }
        }
        for (hosts, now) in self.candidates_in(state, tiers, shape, hosts)? {
            if let Some(host) = favourite_of(state, tiers, task, &hosts) {
                return Ok(Some(if now { Place::Now(host) } else { Place::Later(host) }));
            }
        }
        Ok(None)
    }

    /// The best host of a domain on which a task can be promised room.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub(super) fn future_in(
        &mut self,
        state: &State,
        tiers: &Tiers,
        task: TaskIx,
        domain: DomainIx,
    ) -> Result<Option<HostIx>, Fault> {
        let shape = state[task].shape;
        let (mut now, mut later) = (Vec::new(), Vec::new());
        for &host in &state.domains.get(domain).hosts {
            let ask = state[shape].ask();
            let looked_at = |predicate: &dyn NodePredicate| !predicate.counts_places();
            if state.world.fits_future(host, ask)
                && self.passes(state, tiers, (shape, host), looked_at)?
            {
                let list = if state.world.fits_idle(host, ask) { &mut now } else { &mut later };
                list.push(host);
            }
        }
        // The own shard before all others, in both.
        let foreign =
            |host: &HostIx| state.shard.as_ref().is_some_and(|it| !it.hosts.contains(*host));
        for hosts in [now, later] {
            let (others, own): (Vec<_>, Vec<_>) = hosts.into_iter().partition(foreign);
            for hosts in [own, others] {
                if let Some(host) = favourite_of(state, tiers, task, &hosts) {
                    return Ok(Some(host));
                }
            }
        }
        Ok(None)
    }
}

/// The best of these hosts, the first of equals, with what their places add.
pub(super) fn favourite_of(
    state: &State,
    tiers: &Tiers,
    task: TaskIx,
    hosts: &[HostIx],
) -> Option<HostIx> {
    if hosts.len() < 2 {
        return hosts.first().copied();
    }
    let scores = scores(state, tiers, task, hosts);
    let scored: Vec<(HostIx, f64)> = hosts.iter().copied().zip(scores).collect();
    favourite(state, tiers, task, &scored)
}

fn favourite(
    state: &State,
    tiers: &Tiers,
    task: TaskIx,
    scored: &[(HostIx, f64)],
) -> Option<HostIx> {
    if scored.len() < 2 {
        return scored.first().map(|(host, _)| *host);
    }
    let extra = extra(state, tiers, task, scored);
    let mut best: Option<(f64, HostIx)> = None;
    for &(host, score) in scored {
        let cell = state.domains.cell_of(host).index();
        let score = score + extra.get(cell).copied().unwrap_or(0.0);
        if best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, host));
        }
    }
    best.map(|(_, host)| host)
}

/// By cell, what the place of its hosts adds to their scores.
fn extra(state: &State, tiers: &Tiers, task: TaskIx, scored: &[(HostIx, f64)]) -> Vec<f64> {
    if !tiers.scores_places(state) {
        return Vec::new();
    }
    let mut counts = vec![0; state.domains.cells()];
    for (host, _) in scored {
        counts[state.domains.cell_of(*host).index()] += 1;
    }
    let occupied: Vec<Occupied> = counts
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0)
        .map(|(cell, count)| (CellIx(cell as u32), count))
        .collect();
    // One cell for all is no reason to prefer any of its hosts.
    if occupied.len() < 2 {
        return Vec::new();
    }
    let mut extra = vec![0.0; state.domains.cells()];
    for scores in tiers.place_scores(state, task, &occupied) {
        for ((cell, _), score) in occupied.iter().zip(scores) {
            extra[cell.index()] += if score.is_finite() { score } else { 0.0 };
        }
    }
    extra
}

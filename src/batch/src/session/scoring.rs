//! Scores of hosts for a shape.

use super::objects::{ShapeIx, TaskIx};
use super::plugin::SetScore;
use super::state::State;
use super::tiers::Tiers;
use stowplan_engine::HostIx;

/// The best of these hosts, the first of equals.
pub(super) fn best_of(
    state: &State,
    tiers: &Tiers,
    task: TaskIx,
    hosts: &[HostIx],
) -> Option<HostIx> {
    if hosts.len() < 2 {
        return hosts.first().copied();
    }
    let scores = scores(state, tiers, task, hosts);
    let mut best: Option<(f64, HostIx)> = None;
    for (&host, &score) in hosts.iter().zip(&scores) {
        if best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, host));
        }
    }
    best.map(|(_, host)| host)
}

/// The sums of all scores of these hosts for a task. A score that is no number counts as
/// 0, so that every host on which a shape fits can be chosen.
#[must_use]
pub fn scores(state: &State, tiers: &Tiers, task: TaskIx, hosts: &[HostIx]) -> Vec<f64> {
    let shape = state[task].shape;
    let mut sums: Vec<f64> = hosts.iter().map(|host| score(state, tiers, shape, *host)).collect();
    let mut sets: Vec<Box<dyn SetScore>> = tiers.set_scores(state, shape);
    sets.extend(tiers.task_scores(state, task));
    sets.iter().for_each(|set| set.add(state, hosts, &mut sums));
    sums.iter_mut().filter(|sum| !sum.is_finite()).for_each(|sum| *sum = 0.0);
    sums
}

/// The sum of the scores that depend on this host alone.
pub(super) fn score(state: &State, tiers: &Tiers, shape: ShapeIx, host: HostIx) -> f64 {
    let scores = tiers.scores().map(|score| score.score(&state.world, host, &state[shape]));
    let sum: f64 = scores.sum();
    if sum.is_finite() { sum } else { 0.0 }
}

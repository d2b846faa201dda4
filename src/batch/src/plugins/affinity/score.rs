//! Which hosts are better for the sake of tasks that are near.

use super::{Tally, anyone, domain, residents, wishes};
use crate::session::{SetScore, Shape, State, Status, TaskIx, TaskTerm, Wishes};
use std::collections::BTreeMap;
use stowplan_engine::{HostIx, HostView};

/// The best score before the weight.
const MAX_SCORE: f64 = 100.0;

/// Scores by the preferred affinity of the task to others, and of the others to
/// it: the sum of the weights in the host's domains, scaled to 0 to 100 between
/// the lowest and the highest.
pub(crate) struct AffinityScore {
    shape: Shape,
    weight: f64,
}

impl AffinityScore {
    /// For a shape; none when no preference could matter to it.
    pub(crate) fn new(state: &State, shape: &Shape, weight: f64) -> Option<Self> {
        let prefers = |wishes: &Wishes| {
            !(wishes.near_preferred.is_empty() && wishes.apart_preferred.is_empty())
        };
        let matters = wishes(shape).is_some() && weight != 0.0 && anyone(state, prefers);
        matters.then(|| Self { shape: shape.clone(), weight })
    }

    /// The sums of weights by key and domain.
    fn sums<'s>(&'s self, state: &'s State) -> BTreeMap<&'s str, Tally> {
        let mut sums = BTreeMap::new();
        let Some(own) = wishes(&self.shape) else { return sums };
        let evicted =
            |task: TaskIx| state[task].status == Status::Releasing && state.is_evicted(task);
        for (host, task) in residents(state).filter(|(_, task)| !evicted(*task)) {
            let Some(other) = wishes(state.shape_of(task)) else { continue };
            if other.namespace != own.namespace {
                continue;
            }
            for (term, weight) in terms(own) {
                if term.selector.matches(&other.labels) {
                    add(&mut sums, state, host, term, weight);
                }
            }
            for (term, weight) in terms(other) {
                if term.selector.matches(&own.labels) {
                    add(&mut sums, state, host, term, weight);
                }
            }
        }
        sums
    }
}

/// All preferred terms with their signed weights.
fn terms(wishes: &Wishes) -> impl Iterator<Item = (&TaskTerm, i64)> {
    let near = wishes.near_preferred.iter().map(|(weight, term)| (term, *weight));
    near.chain(wishes.apart_preferred.iter().map(|(weight, term)| (term, -*weight)))
}

fn add<'s>(
    sums: &mut BTreeMap<&'s str, Tally>,
    state: &State,
    host: HostIx,
    term: &'s TaskTerm,
    weight: i64,
) {
    if let Some(at) = domain(state, host, &term.topology_key) {
        let tally = sums.entry(&term.topology_key).or_default();
        *tally.entry(at.clone()).or_default() += weight;
    }
}

impl SetScore for AffinityScore {
    fn add(&self, state: &State, hosts: &[HostIx], scores: &mut [f64]) {
        let sums = self.sums(state);
        let sum = |host: &HostIx| -> i64 {
            let labels = &state.world.facts(*host).labels;
            let domains = sums.iter().filter_map(|(key, tally)| tally.get(labels.get(*key)?));
            domains.sum()
        };
        let raw: Vec<i64> = hosts.iter().map(sum).collect();
        let (Some(least), Some(most)) = (raw.iter().min(), raw.iter().max()) else { return };
        let range = (most - least) as f64;
        if range > 0.0 {
            for (score, raw) in scores.iter_mut().zip(&raw) {
                let scaled = MAX_SCORE * ((raw - least) as f64 / range);
                *score += self.weight * scaled.trunc();
            }
        }
    }
}

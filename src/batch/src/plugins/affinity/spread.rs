//! Which hosts are better for tasks to be spread evenly.

use super::{HOSTNAME, Tally, domain, is_meant, stays, wishes};
use crate::session::{SetScore, Shape, Spread, State, Wishes};
use std::collections::BTreeSet;
use stowplan_engine::{HostIx, HostView};

/// The best score before the weight.
const MAX_SCORE: i64 = 100;

/// Scores by soft spreading: the fewer tasks of the kind in the host's domains
/// the better; domains of few hosts count for less.
pub(crate) struct SpreadScore {
    shape: Shape,
    weight: f64,
}

impl SpreadScore {
    /// For a shape; none when it spreads nothing softly.
    pub(crate) fn new(shape: &Shape, weight: f64) -> Option<Self> {
        let spreads = wishes(shape).is_some_and(|own| soft(own).next().is_some());
        (spreads && weight != 0.0).then(|| Self { shape: shape.clone(), weight })
    }
}

fn soft(wishes: &Wishes) -> impl Iterator<Item = &Spread> {
    wishes.spread.iter().filter(|spread| !spread.hard)
}

/// Whether a host has the keys of all soft spreads.
fn has_all(state: &State, own: &Wishes, host: HostIx) -> bool {
    soft(own).all(|spread| domain(state, host, &spread.topology_key).is_some())
}

fn count(state: &State, own: &Wishes, spread: &Spread, host: HostIx) -> i64 {
    let meant = state.residents(host).iter().filter(|task| {
        stays(state, **task) && is_meant(state, **task, &own.namespace, &spread.selector)
    });
    meant.count() as i64
}

/// Tasks of the kind by domain, on hosts that the shape may go to.
fn tally(state: &State, shape: &Shape, own: &Wishes, spread: &Spread) -> Tally {
    let mut tally = Tally::new();
    for &host in state.world.order() {
        if has_all(state, own, host)
            && shape.selects(&state.world.facts(host).labels)
            && let Some(at) = domain(state, host, &spread.topology_key)
        {
            *tally.entry(at.clone()).or_default() += count(state, own, spread, host);
        }
    }
    tally
}

impl SetScore for SpreadScore {
    fn add(&self, state: &State, hosts: &[HostIx], scores: &mut [f64]) {
        let Some(own) = wishes(&self.shape) else { return };
        let considered: Vec<HostIx> =
            hosts.iter().copied().filter(|host| has_all(state, own, *host)).collect();
        let mut sums = vec![0.0; hosts.len()];
        for spread in soft(own) {
            let by_host = spread.topology_key == HOSTNAME;
            let domains: BTreeSet<&String> = considered
                .iter()
                .filter_map(|host| domain(state, *host, &spread.topology_key))
                .collect();
            let size = if by_host { considered.len() } else { domains.len() };
            let factor = ((size + 2) as f64).ln();
            let tally = tally(state, &self.shape, own, spread);
            for (sum, host) in sums.iter_mut().zip(hosts) {
                let Some(at) = domain(state, *host, &spread.topology_key) else { continue };
                let here = if by_host {
                    count(state, own, spread, *host)
                } else {
                    tally.get(at).copied().unwrap_or_default()
                };
                *sum += here as f64 * factor + (spread.max_skew - 1) as f64;
            }
        }
        let raw = |host: &HostIx, sum: &f64| has_all(state, own, *host).then(|| sum.round() as i64);
        let raw: Vec<Option<i64>> = hosts.iter().zip(&sums).map(|(h, s)| raw(h, s)).collect();
        let known = raw.iter().flatten().copied();
        let (Some(least), Some(most)) = (known.clone().min(), known.max()) else { return };
        for (score, raw) in scores.iter_mut().zip(raw) {
            let scaled = match raw {
                None => 0,
                Some(_) if most == 0 => MAX_SCORE,
                Some(raw) => MAX_SCORE * (most + least - raw) / most,
            };
            *score += self.weight * scaled as f64;
        }
    }
}

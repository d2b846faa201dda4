//! Scores by the labels and taints of hosts, each compared with the highest of
//! all.

use crate::session::{SetScore, Shape, State, Wishes};
use std::sync::Arc;
use stowplan_engine::{HostIx, HostView};
use stowplan_model::host::TaintEffect;

/// The best score before the weight.
const MAX_SCORE: i64 = 100;

/// The weights of the preferred terms that a host matches.
pub(super) struct PreferredHosts {
    wishes: Arc<Wishes>,
    weight: f64,
}

impl PreferredHosts {
    /// For a shape; none when it prefers nothing.
    pub(super) fn new(shape: &Shape, weight: f64) -> Option<Self> {
        let wishes = shape.wishes.clone().filter(|wishes| !wishes.node_preferred.is_empty());
        wishes.filter(|_| weight != 0.0).map(|wishes| Self { wishes, weight })
    }
}

impl SetScore for PreferredHosts {
    fn add(&self, state: &State, hosts: &[HostIx], scores: &mut [f64]) {
        let sum = |host: &HostIx| -> i64 {
            let labels = &state.world.facts(*host).labels;
            let matching =
                self.wishes.node_preferred.iter().filter(|(_, term)| term.matches(labels));
            matching.map(|(weight, _)| weight).sum()
        };
        let raw: Vec<i64> = hosts.iter().map(sum).collect();
        let highest = raw.iter().copied().max().unwrap_or_default();
        if highest > 0 {
            for (score, raw) in scores.iter_mut().zip(raw) {
                *score += self.weight * (raw * MAX_SCORE / highest) as f64;
            }
        }
    }
}

/// How few taints a host has that only ask tasks to stay away, and that the
/// task does not tolerate.
pub(super) struct TaintScore {
    shape: Shape,
    weight: f64,
}

impl TaintScore {
    /// For a shape; none when no host has such a taint: all would score alike.
    pub(super) fn new(state: &State, shape: &Shape, weight: f64) -> Option<Self> {
        let soft = |host: &HostIx| {
            let taints = &state.world.facts(*host).taints;
            taints.iter().any(|taint| taint.effect == TaintEffect::PreferNoSchedule)
        };
        let matters = weight != 0.0 && state.world.order().iter().any(soft);
        matters.then(|| Self { shape: shape.clone(), weight })
    }
}

impl SetScore for TaintScore {
    fn add(&self, state: &State, hosts: &[HostIx], scores: &mut [f64]) {
        let count = |host: &HostIx| {
            let taints = state.world.facts(*host).taints.iter();
            let soft = taints.filter(|taint| taint.effect == TaintEffect::PreferNoSchedule);
            soft.filter(|taint| !self.shape.tolerates(taint)).count() as i64
        };
        let raw: Vec<i64> = hosts.iter().map(count).collect();
        let highest = raw.iter().copied().max().unwrap_or_default();
        for (score, raw) in scores.iter_mut().zip(raw) {
            let part = if highest > 0 { raw * MAX_SCORE / highest } else { 0 };
            *score += self.weight * (MAX_SCORE - part) as f64;
        }
    }
}

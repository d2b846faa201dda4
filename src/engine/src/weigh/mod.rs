//! Weighs hosts: raw values, normalised over the survivors, times multipliers,
//! summed in the weighers' order.
//!
//! One fused pass over blocks of hosts, with the very operations of the
//! host-by-host rule in their order (no reciprocal, no fused multiply-add), so
//! that the result is equal to the last bit.

mod again;
mod column;

use std::sync::Arc;

use crate::fault::StageFault;
use crate::finding::Finding;
use crate::multiplier::{Multipliers, order};
use crate::overrides::Source;
use crate::ranking::Ranking;
use crate::reach::{Reach, outweighing};
use crate::request::RequestCx;
use crate::table::{Class, HostIx, PoolId};
use crate::view::HostView;
use crate::weigher::{Bounds, RawScore, Weigher};
pub(crate) use again::Change;
use column::RawColumn;

/// Hosts summed at a time: what fits the first cache.
const STRIP: usize = 512;

/// Weighers made ready for one request.
pub struct WeighPlan {
    rows: Vec<PlanRow>,
}

/// One weigher made ready.
struct PlanRow {
    weigher: &'static str,
    bounds: Bounds,
    multipliers: Multipliers,
    raw: Box<dyn RawScore>,
}

impl WeighPlan {
    /// Makes weighers ready for a request.
    ///
    /// # Errors
    /// The first weigher that cannot weigh the request.
    pub fn prepare(weighers: &[Box<dyn Weigher>], cx: &RequestCx<'_>) -> Result<Self, StageFault> {
        let rules = weighers.iter().map(|w| w.multiplier(cx.config)).collect();
        let multipliers = Multipliers::resolve(cx.view, rules);
        let rows = weighers.iter().zip(multipliers).map(|(weigher, multipliers)| {
            let raw = weigher.prepare(cx, &multipliers).map_err(StageFault::at(weigher.name()))?;
            Ok(PlanRow {
                weigher: weigher.name(),
                bounds: weigher.bounds(cx.config.normalisation()),
                multipliers,
                raw,
            })
        });
        Ok(Self { rows: rows.collect::<Result<_, _>>()? })
    }

    /// One sentence for each value of host aggregates that was passed over.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().flat_map(|row| row.multipliers.warnings())
    }

    /// Weighs `hosts`. With one host or none nothing is computed: its weight
    /// is 0.
    ///
    /// # Errors
    /// The first weigher that cannot weigh a host.
    pub fn weigh(&self, view: &dyn HostView, hosts: Vec<HostIx>) -> Result<Weighed, StageFault> {
        if hosts.len() <= 1 {
            let weights = vec![0.0; hosts.len()];
            return Ok(Weighed::new(hosts, weights, Vec::new()));
        }
        let mut columns = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            columns.push(row.column(view, &hosts)?);
        }
        let sets = self.aggregate_sets(view, &hosts);
        let weights = self.sums(&columns, &sets, hosts.len());
        Ok(Weighed::new(hosts, weights, columns))
    }

    /// The weights of so many hosts by their columns.
    fn sums(&self, columns: &[RawColumn], sets: &[PoolId], hosts: usize) -> Vec<f64> {
        let mut weights = vec![0.0; hosts];
        let strips = weights.chunks_mut(STRIP).enumerate();
        for (n, weights) in strips {
            let at = n * STRIP;
            for (row, column) in self.rows.iter().zip(columns) {
                row.add(weights, column, sets, at);
            }
        }
        weights
    }

    /// The set of host aggregates of each host; empty when none matters.
    pub(crate) fn aggregate_sets(&self, view: &dyn HostView, hosts: &[HostIx]) -> Vec<PoolId> {
        if !self.rows.iter().any(|row| row.multipliers.has_overrides()) {
            return Vec::new();
        }
        let mut sets = vec![0; hosts.len()];
        view.classes(Class::Aggregates).gather(hosts, &mut sets, |set| set);
        sets
    }

    /// What is to be known of the weighers and their settings: items that
    /// cannot be read, and a weigher beside which all others together do not
    /// count.
    #[must_use]
    pub fn findings(&self, weighed: &Weighed) -> Vec<Finding> {
        let mut findings: Vec<Finding> =
            self.rows.iter().flat_map(|row| row.raw.findings()).collect();
        let rows = self.rows.iter().zip(&weighed.columns);
        let reaches = rows
            .filter(|(_, column)| !column.is_flat())
            .map(|(row, _)| Reach { weigher: row.weigher, reach: row.multipliers.reach() });
        findings.extend(outweighing(&reaches.collect::<Vec<_>>()));
        findings
    }

    /// How each weigher came to its share of the weight of the host at `at`.
    #[must_use]
    pub fn shares(&self, view: &dyn HostView, weighed: &Weighed, at: usize) -> Vec<Share> {
        let set = view.classes(Class::Aggregates).value(weighed.hosts[at]);
        let rows = self.rows.iter().zip(&weighed.columns);
        rows.map(|(row, column)| {
            let raw = column.value(at);
            let normalised = column.normalise(raw);
            let multiplier = row.multipliers.of_set(set);
            Share {
                weigher: row.weigher,
                raw,
                normalised,
                multiplier,
                source: row.multipliers.source(set),
                product: multiplier * normalised,
            }
        })
        .collect()
    }
}

impl PlanRow {
    /// The clamped raw values of `hosts` and the ends of their range.
    fn column(&self, view: &dyn HostView, hosts: &[HostIx]) -> Result<RawColumn, StageFault> {
        let bounds = &self.bounds;
        if let Some(value) = self.raw.constant().filter(|_| *bounds == Bounds::NONE) {
            return Ok(RawColumn::constant(value));
        }
        let mut raw = vec![0.0; hosts.len()];
        self.raw.fill(view, hosts, &mut raw).map_err(StageFault::at(self.weigher))?;
        if *bounds != Bounds::NONE {
            for value in &mut raw {
                *value = bounds.clamp(*value);
            }
        }
        Ok(RawColumn::new(raw, bounds))
    }

    /// Adds this weigher's share to the weights of a strip that begins at
    /// host `at`.
    fn add(&self, weights: &mut [f64], column: &RawColumn, sets: &[PoolId], at: usize) {
        let multipliers = &self.multipliers;
        if column.is_flat() {
            self.add_flat(weights, sets, at);
            return;
        }
        let raw = &column.raw[at..at + weights.len()];
        let (low, span) = (column.low, column.high - column.low);
        if multipliers.has_overrides() {
            for ((weight, raw), set) in weights.iter_mut().zip(raw).zip(&sets[at..]) {
                *weight += multipliers.of_set(*set) * ((raw - low) / span);
            }
        } else {
            let multiplier = multipliers.plain();
            for (weight, raw) in weights.iter_mut().zip(raw) {
                *weight += multiplier * ((raw - low) / span);
            }
        }
    }

    /// Where all hosts are equal each gets 0, which only a multiplier that is
    /// no finite number turns into something else.
    fn add_flat(&self, weights: &mut [f64], sets: &[PoolId], at: usize) {
        let multipliers = &self.multipliers;
        if multipliers.all_finite() {
            return;
        }
        for (place, weight) in weights.iter_mut().enumerate() {
            let set = sets.get(at + place).copied().unwrap_or_default();
            *weight += multipliers.of_set(set) * 0.0;
        }
    }
}

/// Hosts with their weights.
#[derive(Clone, Debug, Default)]
pub struct Weighed {
    /// The hosts, in the order they were given.
    pub hosts: Arc<Vec<HostIx>>,
    /// Their weights.
    pub weights: Arc<Vec<f64>>,
    columns: Vec<RawColumn>,
}

/// How one weigher came to its share of a host's weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The weigher.
    pub weigher: &'static str,
    /// Its raw value, clamped.
    pub raw: f64,
    /// The raw value over the survivors, 0 to 1.
    pub normalised: f64,
    /// The multiplier of this host.
    pub multiplier: f64,
    /// Where the multiplier came from.
    pub source: Source,
    /// multiplier x normalised.
    pub product: f64,
}

impl Weighed {
    fn new(hosts: Vec<HostIx>, weights: Vec<f64>, columns: Vec<RawColumn>) -> Self {
        Self { hosts: Arc::new(hosts), weights: Arc::new(weights), columns }
    }

    /// Whether the weights have shares: with one host or none they do not.
    #[must_use]
    pub fn has_shares(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Places of the hosts by weight, found as far as they are asked for: the
    /// highest first; equal weights keep the order given.
    #[must_use]
    pub fn ranked(&self) -> Ranking {
        Ranking::new(self.weights.clone())
    }

    /// Places of all hosts by weight.
    #[must_use]
    pub fn ranking(&self) -> Vec<usize> {
        let mut ranking = self.ranked();
        ranking.first(self.hosts.len()).iter().map(|place| *place as usize).collect()
    }

    /// The first `k` of [`Weighed::ranking`]. For few of many this is one look
    /// at each weight.
    #[must_use]
    pub fn best(&self, k: usize) -> Vec<usize> {
        let weights = self.weights.as_slice();
        let mut best: Vec<usize> = Vec::with_capacity(k.min(weights.len()) + 1);
        for (place, weight) in weights.iter().enumerate() {
            let full = best.len() == k;
            if full && best.last().is_none_or(|worst| order(*weight, weights[*worst]).is_le()) {
                continue;
            }
            if full {
                best.pop();
            }
            let at = best.partition_point(|b| order(weights[*b], *weight).is_ge());
            best.insert(at, place);
        }
        best
    }
}

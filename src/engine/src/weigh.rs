//! Weighs hosts: raw values, normalised over the survivors, times multipliers,
//! summed in the weighers' order.
//!
//! One fused pass over blocks of hosts, with the very operations of the
//! host-by-host rule in their order (no reciprocal, no fused multiply-add), so
//! that the result is equal to the last bit.

use crate::fault::StageFault;
use crate::multiplier::{MultiplierSource, Multipliers, order};
use crate::request::RequestCx;
use crate::table::{Class, HostIx, PoolId};
use crate::view::HostView;
use crate::weigher::{Bounds, RawScore, Weigher};

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
        let mut weights = vec![0.0; hosts.len()];
        if hosts.len() <= 1 {
            return Ok(Weighed { hosts, weights, columns: Vec::new() });
        }
        let mut columns = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            columns.push(row.column(view, &hosts)?);
        }
        let sets = self.aggregate_sets(view, &hosts);
        let strips = weights.chunks_mut(STRIP).enumerate();
        for (n, weights) in strips {
            let at = n * STRIP;
            for (row, column) in self.rows.iter().zip(&columns) {
                row.add(weights, &column.part(at, weights.len()), &sets, at);
            }
        }
        Ok(Weighed { hosts, weights, columns })
    }

    /// The set of host aggregates of each host; empty when none matters.
    fn aggregate_sets(&self, view: &dyn HostView, hosts: &[HostIx]) -> Vec<PoolId> {
        if !self.rows.iter().any(|row| row.multipliers.has_overrides()) {
            return Vec::new();
        }
        let classes = view.classes(Class::Aggregates);
        hosts.iter().map(|host| classes.value(*host)).collect()
    }

    /// How each weigher came to its share of the weight of the host at `at`.
    #[must_use]
    pub fn shares(&self, view: &dyn HostView, weighed: &Weighed, at: usize) -> Vec<Share> {
        let set = view.classes(Class::Aggregates).value(weighed.hosts[at]);
        let rows = self.rows.iter().zip(&weighed.columns);
        rows.map(|(row, column)| {
            let raw = column.raw[at];
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
        let mut raw = vec![0.0; hosts.len()];
        self.raw.fill(view, hosts, &mut raw).map_err(StageFault::at(self.weigher))?;
        if self.bounds != Bounds::NONE {
            for value in &mut raw {
                *value = self.bounds.clamp(*value);
            }
        }
        let first = raw.first().copied().unwrap_or_default();
        let (mut low, mut high) = (first, first);
        for value in &raw {
            if order(*value, low).is_lt() {
                low = *value;
            }
            if order(*value, high).is_gt() {
                high = *value;
            }
        }
        Ok(RawColumn {
            raw,
            low: self.bounds.lowest.unwrap_or(low),
            high: self.bounds.highest.unwrap_or(high),
        })
    }

    /// Adds this weigher's share to the weights of a strip that begins at
    /// host `at`.
    fn add(&self, weights: &mut [f64], column: &Strip<'_>, sets: &[PoolId], at: usize) {
        let multipliers = &self.multipliers;
        if column.is_flat() && multipliers.all_finite() {
            return;
        }
        if multipliers.has_overrides() {
            for ((weight, raw), set) in weights.iter_mut().zip(column.raw).zip(&sets[at..]) {
                *weight += multipliers.of_set(*set) * column.normalise(*raw);
            }
        } else {
            let multiplier = multipliers.plain();
            for (weight, raw) in weights.iter_mut().zip(column.raw) {
                *weight += multiplier * column.normalise(*raw);
            }
        }
    }
}

/// Raw values of one weigher with the ends of their range.
#[derive(Clone, Debug)]
struct RawColumn {
    raw: Vec<f64>,
    low: f64,
    high: f64,
}

impl RawColumn {
    fn part(&self, at: usize, len: usize) -> Strip<'_> {
        Strip { raw: &self.raw[at..at + len], low: self.low, high: self.high }
    }

    fn normalise(&self, raw: f64) -> f64 {
        self.part(0, 0).normalise(raw)
    }
}

/// A part of a [`RawColumn`].
struct Strip<'a> {
    raw: &'a [f64],
    low: f64,
    high: f64,
}

impl Strip<'_> {
    /// Whether all hosts are equal to this weigher.
    fn is_flat(&self) -> bool {
        self.low == self.high
    }

    fn normalise(&self, raw: f64) -> f64 {
        if self.is_flat() { 0.0 } else { (raw - self.low) / (self.high - self.low) }
    }
}

/// Hosts with their weights.
#[derive(Clone, Debug, Default)]
pub struct Weighed {
    /// The hosts, in the order they were given.
    pub hosts: Vec<HostIx>,
    /// Their weights.
    pub weights: Vec<f64>,
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
    pub source: MultiplierSource,
    /// multiplier x normalised.
    pub product: f64,
}

impl Weighed {
    /// Whether the weights have shares: with one host or none they do not.
    #[must_use]
    pub fn has_shares(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Places of the hosts by weight, the highest first; equal weights keep
    /// the order given.
    #[must_use]
    pub fn ranking(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.hosts.len()).collect();
        places.sort_by(|a, b| order(self.weights[*b], self.weights[*a]));
        places
    }

    /// The first `k` of [`Weighed::ranking`], without sorting all hosts.
    #[must_use]
    pub fn best(&self, k: usize) -> Vec<usize> {
        let mut best: Vec<usize> = Vec::with_capacity(k.min(self.hosts.len()) + 1);
        for (place, weight) in self.weights.iter().enumerate() {
            let full = best.len() == k;
            if full && best.last().is_none_or(|worst| order(*weight, self.weights[*worst]).is_le())
            {
                continue;
            }
            if full {
                best.pop();
            }
            let at = best.partition_point(|b| order(self.weights[*b], *weight).is_ge());
            best.insert(at, place);
        }
        best
    }
}

//! Where on a host amounts come from: one provider per device, as a rule one
//! for everything else.

use crate::amounts::{Amounts, DimIx};
use smallvec::SmallVec;
use stowplan_model::Uuid;

/// What one provider of a host's tree has of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The dimension.
    pub dim: DimIx,
    /// The provider.
    pub provider: Uuid,
    /// What it may give in all, in quanta.
    pub capacity: i64,
    /// What is held of it.
    pub used: i64,
    /// The least that one holder may take.
    pub min_unit: i64,
    /// The most that one holder may take.
    pub max_unit: i64,
    /// Every amount is a multiple of this.
    pub step_size: i64,
}

impl Source {
    fn free(&self) -> i64 {
        self.capacity - self.used
    }

    /// Whether its own rules let one holder take so much.
    fn takes(&self, amount: i64) -> bool {
        amount >= self.min_unit
            && amount <= self.max_unit
            && (self.step_size <= 1 || amount % self.step_size == 0)
    }

    /// Whether any amount up to what is free may be taken, so that looking at
    /// the host's columns says all.
    pub(crate) fn is_plain(&self) -> bool {
        self.min_unit <= 1 && self.max_unit >= self.capacity && self.step_size <= 1
    }
}

/// An amount taken from one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The dimension.
    pub dim: DimIx,
    /// The provider.
    pub provider: Uuid,
    /// How much.
    pub amount: i64,
}

/// What one task takes of a host.
pub type Picks = SmallVec<[Pick; 4]>;

/// The sources of one host, in order of dimension, then of creation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    all: Vec<Source>,
}

impl Sources {
    /// No source.
    pub const NONE: Self = Self { all: Vec::new() };

    /// Adds a source after those of its dimension.
    pub fn push(&mut self, source: Source) {
        let at = self.all.partition_point(|other| other.dim <= source.dim);
        self.all.insert(at, source);
    }

    /// The sources of a dimension.
    #[must_use]
    pub fn of(&self, dim: DimIx) -> &[Source] {
        let from = self.all.partition_point(|source| source.dim < dim);
        let to = self.all.partition_point(|source| source.dim <= dim);
        &self.all[from..to]
    }

    /// Whether every dimension has one source at most, and that one gives any
    /// amount: then what fits the host's columns can be taken.
    #[must_use]
    pub fn are_plain(&self) -> bool {
        let single = self.all.windows(2).all(|pair| pair[0].dim != pair[1].dim);
        single && self.all.iter().all(Source::is_plain)
    }

    /// Chooses sources for a request; none when they cannot give it.
    #[must_use]
    pub fn pick(&self, request: &Amounts) -> Option<Picks> {
        let mut picks = Picks::new();
        for (dim, amount) in request.positive() {
            choose(self.of(dim), dim, amount, &mut picks)?;
        }
        Some(picks)
    }

    /// Takes what was picked, or gives it back (`sign` -1).
    pub fn apply(&mut self, picks: &[Pick], sign: i64) {
        for pick in picks {
            let same =
                |source: &&mut Source| source.dim == pick.dim && source.provider == pick.provider;
            if let Some(source) = self.all.iter_mut().find(same) {
                source.used += sign * pick.amount;
            }
        }
    }
}

/// An amount that one source can hold comes from one alone: the one with the
/// least room that suffices, the first of equals. A larger amount takes whole
/// sources (n devices are n providers, rule 4) and the rest from one more.
fn choose(sources: &[Source], dim: DimIx, amount: i64, picks: &mut Picks) -> Option<()> {
    let unit = sources.iter().map(|source| source.capacity).max().filter(|unit| *unit > 0)?;
    let (whole, rest) = if amount <= unit { (0, amount) } else { (amount / unit, amount % unit) };
    let first = picks.len();
    let untouched = sources.iter().filter(|s| s.used <= 0 && s.capacity == unit && s.takes(unit));
    for source in untouched.take(usize::try_from(whole).ok()?) {
        picks.push(Pick { dim, provider: source.provider, amount: unit });
    }
    if picks.len() - first != usize::try_from(whole).ok()? {
        return None;
    }
    if rest > 0 {
        let taken = |s: &Source| picks[first..].iter().any(|pick| pick.provider == s.provider);
        let fitting = sources.iter().filter(|s| s.free() >= rest && s.takes(rest) && !taken(s));
        let source = fitting.min_by_key(|source| source.free())?;
        let provider = source.provider;
        picks.push(Pick { dim, provider, amount: rest });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const GPU: DimIx = DimIx(3);

    fn source(dim: DimIx, id: u128, capacity: i64, used: i64) -> Source {
        let provider = Uuid::from_u128(id);
        Source { dim, provider, capacity, used, min_unit: 1, max_unit: capacity, step_size: 1 }
    }

    fn host(devices: &[(i64, i64)]) -> Sources {
        let mut sources = Sources::default();
        for (at, (capacity, used)) in devices.iter().enumerate() {
            sources.push(source(GPU, at as u128 + 10, *capacity, *used));
        }
        sources.push(source(DimIx::CPU, 1, 8, 2));
        sources
    }

    fn picked(sources: &Sources, amount: i64) -> Option<Vec<(u128, i64)>> {
        let mut request = Amounts::new();
        request.set(GPU, amount);
        let picks = sources.pick(&request)?;
        Some(picks.iter().map(|pick| (pick.provider.as_u128(), pick.amount)).collect())
    }

    #[test]
    fn a_share_comes_from_the_fullest_device_that_holds_it() {
        let sources = host(&[(1000, 0), (1000, 600), (1000, 600), (1000, 900)]);
        assert_eq!(picked(&sources, 100), Some(vec![(13, 100)]));
        assert_eq!(picked(&sources, 400), Some(vec![(11, 400)]));
        assert_eq!(picked(&sources, 1000), Some(vec![(10, 1000)]));
        assert_eq!(picked(&sources, 1300), Some(vec![(10, 1000), (11, 300)]));
        assert_eq!(picked(&sources, 2000), None, "two whole devices are not free");
    }

    #[test]
    fn many_devices_are_many_providers() {
        let mut sources = host(&[(1, 0), (1, 1), (1, 0), (1, 0)]);
        assert_eq!(picked(&sources, 2), Some(vec![(10, 1), (12, 1)]));
        let mut request = Amounts::new();
        request.set(GPU, 2);
        let picks = sources.pick(&request).unwrap();
        let before = sources.clone();
        sources.apply(&picks, 1);
        assert_eq!(picked(&sources, 2), None);
        sources.apply(&picks, -1);
        assert_eq!(sources, before);
    }

    #[test]
    fn unit_rules_of_an_inventory_hold() {
        let mut sources = Sources::default();
        let rule = Source { min_unit: 2, max_unit: 4, step_size: 2, ..source(GPU, 1, 10, 0) };
        sources.push(rule);
        assert!(!sources.are_plain());
        assert_eq!(picked(&sources, 3), None);
        assert_eq!(picked(&sources, 6), None);
        assert_eq!(picked(&sources, 4), Some(vec![(1, 4)]));
        let mut plain = Sources::default();
        plain.push(source(GPU, 1, 10, 0));
        assert!(plain.are_plain());
        assert!(!host(&[(1, 0), (1, 0)]).are_plain());
    }
}

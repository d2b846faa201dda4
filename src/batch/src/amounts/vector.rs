//! Amounts in several dimensions, exact (rule 2).

use super::dims::DimIx;
use smallvec::SmallVec;

/// Amounts by dimension, in quanta.
///
/// cpu and memory are always there. Any other dimension may be missing, which
/// is not the same as an amount of 0: a capability without a dimension sets no
/// limit there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Amounts {
    has: u64,
    values: SmallVec<[i64; 6]>,
}

impl Default for Amounts {
    fn default() -> Self {
        Self::new()
    }
}

impl Amounts {
    /// Nothing: 0 of cpu and memory.
    #[must_use]
    pub fn new() -> Self {
        Self { has: 0b11, values: SmallVec::from_slice(&[0, 0]) }
    }

    /// Whether a dimension is there.
    #[must_use]
    pub const fn has(&self, dim: DimIx) -> bool {
        self.has >> dim.0 & 1 == 1
    }

    /// The amount in a dimension; 0 when it is missing.
    #[must_use]
    pub fn get(&self, dim: DimIx) -> i64 {
        self.values.get(dim.index()).copied().unwrap_or_default()
    }

    /// Sets the amount in a dimension.
    pub fn set(&mut self, dim: DimIx, value: i64) {
        if self.values.len() <= dim.index() {
            self.values.resize(dim.index() + 1, 0);
        }
        self.has |= 1 << dim.0;
        self.values[dim.index()] = value;
    }

    /// The dimensions that are there, with their amounts.
    pub fn iter(&self) -> impl Iterator<Item = (DimIx, i64)> + '_ {
        let all = self.values.iter().enumerate().map(|(at, value)| (DimIx(at as u8), *value));
        all.filter(|(dim, _)| self.has(*dim))
    }

    /// The dimensions in which there is something.
    pub fn positive(&self) -> impl Iterator<Item = (DimIx, i64)> + '_ {
        self.iter().filter(|(_, value)| *value > 0)
    }

    /// Whether nothing is asked for but a place for a task: a request like
    /// this makes its task best-effort.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positive().all(|(dim, _)| dim == DimIx::PODS)
    }

    /// Adds, dimension by dimension. What is missing counts as 0 and is there
    /// afterwards.
    pub fn add(&mut self, other: &Self) {
        for (dim, value) in other.iter() {
            self.set(dim, self.get(dim).saturating_add(value));
        }
    }

    /// Subtracts, dimension by dimension; may go below 0.
    pub fn sub(&mut self, other: &Self) {
        for (dim, value) in other.iter() {
            self.set(dim, self.get(dim).saturating_sub(value));
        }
    }

    /// Whether this fits beside nothing else into what `room` says, in the
    /// dimensions that it asks for.
    #[must_use]
    pub fn fits(&self, room: impl Fn(DimIx) -> i64) -> bool {
        self.positive().all(|(dim, value)| value <= room(dim))
    }

    /// Whether this is nowhere above what `room` says, not even where nothing
    /// is asked for: a host that has given more than it has takes nothing.
    #[must_use]
    pub fn within(&self, room: impl Fn(DimIx) -> i64) -> bool {
        self.iter().all(|(dim, value)| value <= room(dim))
    }

    /// The largest share of `total` over the dimensions in which that has
    /// something; 0 when there are none.
    #[must_use]
    pub fn dominant_share(&self, total: &Self) -> f64 {
        total.positive().map(|(dim, all)| share(self.get(dim), all)).fold(0.0, f64::max)
    }
}

/// What part of `whole` is `part`: nothing of nothing is 0, anything of
/// nothing 1.
#[must_use]
pub fn share(part: i64, whole: i64) -> f64 {
    match (part, whole) {
        (0, 0) => 0.0,
        (_, 0) => 1.0,
        _ => part as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amounts(values: &[(u8, i64)]) -> Amounts {
        let mut amounts = Amounts::new();
        for (dim, value) in values {
            amounts.set(DimIx(*dim), *value);
        }
        amounts
    }

    #[test]
    fn missing_is_not_zero() {
        let (without, with) = (amounts(&[(0, 1)]), amounts(&[(0, 1), (5, 0)]));
        assert_ne!(without, with);
        assert!(!without.has(DimIx(5)) && with.has(DimIx(5)));
        assert_eq!(without.get(DimIx(5)), 0);
        assert_eq!(amounts(&[]).iter().count(), 2);
    }

    #[test]
    fn a_place_alone_is_best_effort() {
        assert!(amounts(&[(2, 1)]).is_empty());
        assert!(!amounts(&[(2, 1), (4, 1)]).is_empty());
    }

    #[test]
    fn only_what_is_asked_for_must_fit() {
        let request = amounts(&[(0, 4), (3, 0)]);
        assert!(request.fits(|dim| if dim == DimIx::CPU { 4 } else { -1 }));
        assert!(!request.fits(|_| 3));
    }

    #[test]
    fn shares() {
        let total = amounts(&[(0, 10), (1, 0), (4, 8)]);
        assert_eq!(amounts(&[(0, 2), (1, 7), (4, 4)]).dominant_share(&total), 0.5);
        assert_eq!((share(0, 0), share(3, 0)), (0.0, 1.0));
    }

    proptest! {
        #[test]
        fn what_was_added_can_be_taken_back(
            a in proptest::collection::vec((0u8..8, 0i64..1000), 0..6),
            b in proptest::collection::vec((0u8..8, 0i64..1000), 0..6),
        ) {
            let (a, b) = (amounts(&a), amounts(&b));
            let mut sum = a.clone();
            sum.add(&b);
            for (dim, value) in sum.iter() {
                prop_assert_eq!(value, a.get(dim) + b.get(dim));
            }
            sum.sub(&b);
            for (dim, value) in sum.iter() {
                prop_assert_eq!(value, a.get(dim));
            }
        }
    }
}

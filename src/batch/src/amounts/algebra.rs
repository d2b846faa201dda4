//! The algebra of amounts: the peer's comparisons, made exact (rule 2).
//!
//! cpu and memory are always there. What a missing dimension counts as is for
//! the question to say ([`Missing`]); most questions look only at the
//! dimensions that a request asks for, never at places for tasks.

use super::dims::DimIx;
use super::vector::Amounts;

/// More than any sum: what a queue without a limit may hold.
pub const UNLIMITED: i64 = i64::MAX;

/// What a dimension that only one side has counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing.
    Zero,
    /// No limit.
    Infinity,
}

const fn is_always_there(dim: DimIx) -> bool {
    dim.0 < DimIx::PODS.0
}

impl Amounts {
    /// Dimensions in which a request asks for something, but for its place as
    /// a task: those that quotas are compared in.
    pub fn asked(&self) -> impl Iterator<Item = DimIx> + '_ {
        self.positive().map(|(dim, _)| dim).filter(|dim| *dim != DimIx::PODS)
    }

    /// Below the other in every dimension of this.
    #[must_use]
    pub fn less(&self, other: &Self, missing: Missing) -> bool {
        self.every(other, missing, |a, b| a < b)
    }

    /// Not above the other in any dimension of this.
    #[must_use]
    pub fn less_equal(&self, other: &Self, missing: Missing) -> bool {
        self.every(other, missing, |a, b| a <= b)
    }

    fn every(&self, other: &Self, missing: Missing, holds: impl Fn(i64, i64) -> bool) -> bool {
        let endless = missing == Missing::Infinity;
        if endless && other.iter().any(|(dim, _)| !self.has(dim)) {
            return false;
        }
        self.iter().all(|(dim, a)| (endless && !other.has(dim)) || holds(a, other.get(dim)))
    }

    /// The dimensions of this that are above the other.
    #[must_use]
    pub fn above(&self, other: &Self, missing: Missing) -> Vec<DimIx> {
        let free = |dim: DimIx| missing == Missing::Infinity && !other.has(dim);
        let over = self.iter().filter(|(dim, a)| !free(*dim) && *a > other.get(*dim));
        over.map(|(dim, _)| dim).collect()
    }

    /// The dimensions of a request in which this is above the other.
    pub fn above_for<'a>(
        &'a self,
        other: &'a Self,
        request: &'a Self,
    ) -> impl Iterator<Item = DimIx> + 'a {
        request.asked().filter(|dim| self.get(*dim) > other.get(*dim))
    }

    /// Not above the other in any dimension that a request asks for.
    #[must_use]
    pub fn less_equal_for(&self, other: &Self, request: &Self) -> bool {
        self.above_for(other, request).next().is_none()
    }

    /// Below the other in one dimension.
    #[must_use]
    pub fn less_partly(&self, other: &Self, missing: Missing) -> bool {
        self.any(other, missing, |a, b| a < b)
    }

    /// Not above the other in one dimension.
    #[must_use]
    pub fn less_equal_partly(&self, other: &Self, missing: Missing) -> bool {
        self.any(other, missing, |a, b| a <= b)
    }

    fn any(&self, other: &Self, missing: Missing, holds: impl Fn(i64, i64) -> bool) -> bool {
        let lacks = match missing {
            Missing::Zero => other.iter().any(|(dim, _)| !self.has(dim)),
            Missing::Infinity => self.iter().any(|(dim, _)| !other.has(dim)),
        };
        lacks || self.iter().any(|(dim, a)| holds(a, other.get(dim)))
    }

    /// The dimensions of a request in which this is not above the other.
    pub fn within_for<'a>(
        &'a self,
        other: &'a Self,
        request: &'a Self,
    ) -> impl Iterator<Item = DimIx> + 'a {
        request.asked().filter(|dim| self.get(*dim) <= other.get(*dim))
    }

    /// The same without the dimensions in which both are nothing: a queue that
    /// deserves none of a thing is not below its share of it.
    pub fn within_some_for<'a>(
        &'a self,
        other: &'a Self,
        request: &'a Self,
    ) -> impl Iterator<Item = DimIx> + 'a {
        let some = |dim: &DimIx| self.get(*dim) > 0 || other.get(*dim) > 0;
        self.within_for(other, request).filter(some)
    }

    /// The dimensions of a request in which this is above the other, where the
    /// other says anything at all.
    pub fn above_relevant<'a>(
        &'a self,
        other: &'a Self,
        request: &'a Self,
    ) -> impl Iterator<Item = DimIx> + 'a {
        let says =
            |dim: &DimIx| if is_always_there(*dim) { other.get(*dim) > 0 } else { other.has(*dim) };
        self.above_for(other, request).filter(says)
    }

    /// How far this is above the other, and how far below, dimension by
    /// dimension.
    #[must_use]
    pub fn diff(&self, other: &Self) -> (Self, Self) {
        let (mut more, mut less) = (Self::new(), Self::new());
        for dim in self.union(other) {
            let (a, b) = (self.get(dim), other.get(dim));
            more.set(dim, a.saturating_sub(b).max(0));
            less.set(dim, b.saturating_sub(a).max(0));
        }
        (more, less)
    }

    /// How far this is above the other.
    #[must_use]
    pub fn exceeded(&self, other: &Self) -> Self {
        self.diff(other).0
    }

    /// Cuts this to the other, dimension by dimension.
    pub fn cap(&mut self, other: &Self, missing: Missing) {
        let dims: Vec<(DimIx, i64)> = self.iter().collect();
        for (dim, value) in dims {
            if is_always_there(dim) || other.has(dim) {
                self.set(dim, value.min(other.get(dim)));
            } else if missing == Missing::Zero {
                self.set(dim, value.min(0));
            }
        }
    }

    /// Lifts this to the other, dimension by dimension.
    pub fn lift(&mut self, other: &Self) {
        for (dim, value) in other.iter() {
            self.set(dim, self.get(dim).max(value));
        }
    }

    /// Whether both ask for something of one kind, places for tasks apart.
    #[must_use]
    pub fn shares_dimension(&self, other: &Self) -> bool {
        self.asked().any(|dim| other.get(dim) > 0)
    }

    /// Equal, a missing dimension being nothing or no limit.
    #[must_use]
    pub fn equals(&self, other: &Self, missing: Missing) -> bool {
        self.union(other).all(|dim| {
            let same_presence = missing == Missing::Zero || self.has(dim) == other.has(dim);
            same_presence && self.get(dim) == other.get(dim)
        })
    }

    /// All dimensions that either has.
    fn union<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = DimIx> + 'a {
        let new = other.iter().map(|(dim, _)| dim).filter(|dim| !self.has(*dim));
        self.iter().map(|(dim, _)| dim).chain(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amounts(values: &[(u8, i64)]) -> Amounts {
        let mut amounts = Amounts::new();
        values.iter().for_each(|(dim, value)| amounts.set(DimIx(*dim), *value));
        amounts
    }

    #[test]
    fn only_what_is_asked_for_is_compared() {
        let (held, limit) = (amounts(&[(0, 5), (2, 9), (4, 3)]), amounts(&[(0, 5), (2, 1)]));
        assert!(held.less_equal_for(&limit, &amounts(&[(0, 1), (2, 1)])));
        assert!(!held.less_equal_for(&limit, &amounts(&[(4, 1)])));
        assert!(!held.less_equal(&limit, Missing::Zero));
        assert_eq!(held.above(&limit, Missing::Zero), [DimIx(2), DimIx(4)]);
        assert_eq!(held.above(&limit, Missing::Infinity), [DimIx(2)]);
    }

    #[test]
    fn a_cap_without_a_dimension() {
        let limit = amounts(&[(0, 4), (1, 9)]);
        let capped = |missing| {
            let mut held = amounts(&[(0, 5), (1, 5), (4, 3)]);
            held.cap(&limit, missing);
            held
        };
        assert_eq!(capped(Missing::Infinity), amounts(&[(0, 4), (1, 5), (4, 3)]));
        assert_eq!(capped(Missing::Zero), amounts(&[(0, 4), (1, 5), (4, 0)]));
    }

    fn any_amounts() -> impl Strategy<Value = Amounts> {
        proptest::collection::vec((0u8..6, 0i64..20), 0..6).prop_map(|values| amounts(&values))
    }

    proptest! {
        #[test]
        fn what_is_above_and_below_adds_up(a in any_amounts(), b in any_amounts()) {
            let (more, less) = a.diff(&b);
            let mut sum = b.clone();
            sum.add(&more);
            sum.sub(&less);
            prop_assert!(sum.equals(&a, Missing::Zero));
            prop_assert_eq!(more.equals(&Amounts::new(), Missing::Zero), a.less_equal(&b, Missing::Zero));
        }

        #[test]
        fn caps_and_lifts_hold(a in any_amounts(), b in any_amounts()) {
            let (mut low, mut high) = (a.clone(), a.clone());
            low.cap(&b, Missing::Zero);
            high.lift(&b);
            prop_assert!(low.less_equal(&a, Missing::Zero) && low.less_equal(&b, Missing::Zero));
            prop_assert!(a.less_equal(&high, Missing::Zero) && b.less_equal(&high, Missing::Zero));
        }
    }
}

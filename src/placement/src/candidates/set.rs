//! Small sets of small numbers: the providers of one tree, as bits.

use smallvec::SmallVec;

/// A set of numbers below a bound that all sets of one search share. Up to 64
/// numbers it is one word and never leaves the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Set(SmallVec<[u64; 1]>);

impl Set {
    /// The empty set of numbers below `bound`.
    pub fn none(bound: usize) -> Self {
        Self(SmallVec::from_elem(0, bound.div_ceil(64).max(1)))
    }

    /// All numbers below `bound`.
    pub fn all(bound: usize) -> Self {
        let mut set = Self::none(bound);
        (0..bound).for_each(|number| set.insert(number));
        set
    }

    pub fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    pub fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Keeps what is in the other set too.
    pub fn keep(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    /// Adds what is in the other set.
    pub fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Whether everything of the other set is in this one.
    pub fn covers(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(word, other)| other & !word == 0)
    }

    /// The numbers, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(place, &word)| {
            std::iter::successors((word != 0).then_some(word), |word| {
                let rest = word & (word - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |word| place * 64 + word.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_order() {
        let mut set = Set::none(200);
        for number in [3, 64, 63, 199] {
            set.insert(number);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 64, 199]);
        set.remove(64);
        assert!(!set.has(64) && set.has(63));
        assert!(Set::all(200).covers(&set) && !set.covers(&Set::all(200)));
        let mut other = Set::none(200);
        other.insert(199);
        set.keep(&other);
        assert_eq!(set, other);
    }
}

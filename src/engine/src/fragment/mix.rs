//! Which shapes of requests arrive, and how often: learnt, bounded, forgetful.

use std::collections::BTreeMap;

/// Shapes remembered at most.
const MOST_SHAPES: usize = 512;

/// Arrivals after which each counts half, so that an old mix is forgotten.
const MEMORY: u64 = 32_768;

/// Counts of the shapes that have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix<S> {
    counts: BTreeMap<S, u64>,
    total: u64,
    arrived: u64,
}

impl<S: Ord> Default for Mix<S> {
    fn default() -> Self {
        Self { counts: BTreeMap::new(), total: 0, arrived: 0 }
    }
}

impl<S: Ord + Clone> Mix<S> {
    /// Counts requests of one shape that have arrived.
    pub fn observe(&mut self, shape: S, requests: u64) {
        if requests == 0 {
            return;
        }
        *self.counts.entry(shape).or_default() += requests;
        self.total += requests;
        self.arrived += requests;
        while self.total > MEMORY || self.counts.len() > MOST_SHAPES {
            self.halve();
        }
    }

    /// How many requests have arrived in all.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// The shapes, each with how often it was seen, lately counting most.
    pub fn iter(&self) -> impl Iterator<Item = (&S, u64)> {
        self.counts.iter().map(|(shape, count)| (shape, *count))
    }

    /// Rare shapes go, so it ends.
    fn halve(&mut self) {
        self.counts.values_mut().for_each(|count| *count /= 2);
        self.counts.retain(|_, count| *count > 0);
        self.total = self.counts.values().sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_mix_is_forgotten_and_rare_shapes_go_first() {
        let mut mix = Mix::default();
        mix.observe("old", MEMORY);
        for _ in 0..8 {
            mix.observe("new", MEMORY / 2);
        }
        let counts: BTreeMap<&str, u64> =
            mix.iter().map(|(shape, count)| (*shape, count)).collect();
        assert!(counts["new"] > 4 * counts["old"], "{counts:?}");
        assert_eq!(mix.arrived(), 5 * MEMORY);

        let mut mix = Mix::default();
        mix.observe(0, 5);
        (1..10 * MOST_SHAPES)
            .for_each(|shape| mix.observe(shape, if shape % 7 == 0 { 3 } else { 1 }));
        assert!(mix.iter().count() <= MOST_SHAPES);
        mix.observe(1, 0);
        assert!(mix.iter().all(|(_, count)| count > 0));
    }
}

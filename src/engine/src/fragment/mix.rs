//! Which shapes of requests arrive, and how often: learnt, bounded, forgetful.

use foldhash::{HashMap, HashMapExt};
use std::hash::Hash;

/// Shapes remembered at most.
const MOST_SHAPES: usize = 512;

/// Arrivals after which each counts half, so that an old mix is forgotten.
const MEMORY: u64 = 32_768;

/// Counts of the shapes that have arrived, in the order in which they first did.
#[derive(Clone, Debug)]
pub struct Mix<S> {
    counts: Vec<(S, u64)>,
    places: HashMap<S, usize>,
    total: u64,
    arrived: u64,
}

impl<S> Default for Mix<S> {
    fn default() -> Self {
        Self { counts: Vec::new(), places: HashMap::new(), total: 0, arrived: 0 }
    }
}

impl<S: Eq + Hash + Clone> Mix<S> {
    /// Counts requests of one shape that have arrived.
    pub fn observe(&mut self, shape: S, requests: u64) {
        if requests == 0 {
            return;
        }
        let place = *self.places.entry(shape.clone()).or_insert(self.counts.len());
        if place == self.counts.len() {
            self.counts.push((shape, 0));
        }
        self.counts[place].1 += requests;
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
        self.counts.iter_mut().for_each(|(_, count)| *count /= 2);
        self.counts.retain(|(_, count)| *count > 0);
        self.total = self.counts.iter().map(|(_, count)| count).sum();
        let places = self.counts.iter().enumerate();
        self.places = places.map(|(place, (shape, _))| (shape.clone(), place)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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

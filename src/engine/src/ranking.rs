//! Places by weight, sorted as far as somebody asks.
//!
//! A decision needs the best few of its hosts; the others are put in order
//! only when claims or further servers of the request ask for them.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::multiplier::order;

/// Places sorted at first; each further step sorts as many as all before it.
const STEP: usize = 64;

/// Places of hosts by weight, the highest first; equal weights keep the order
/// of their places. The order is total, so how far it is sorted never shows.
#[derive(Clone, Debug)]
pub struct Ranking {
    weights: Arc<Vec<f64>>,
    places: Vec<u32>,
    /// So many of `places` are where they belong.
    sorted: usize,
}

impl Ranking {
    /// Over weights by place.
    #[must_use]
    pub fn new(weights: Arc<Vec<f64>>) -> Self {
        let places = (0..weights.len() as u32).collect();
        Self { weights, places, sorted: 0 }
    }

    /// Places there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The first `count` places, or all when there are fewer.
    pub fn first(&mut self, count: usize) -> &[u32] {
        let count = count.min(self.places.len());
        self.sort_to(count);
        &self.places[..count]
    }

    /// The same, to be put in another order.
    pub fn first_mut(&mut self, count: usize) -> &mut [u32] {
        let count = count.min(self.places.len());
        self.sort_to(count);
        &mut self.places[..count]
    }

    /// Puts one place before all others, which keep their order.
    pub fn lift(&mut self, place: u32) {
        let Some(at) = self.places.iter().position(|other| *other == place) else { return };
        self.places[..=at].rotate_right(1);
        if at >= self.sorted {
            self.sorted += 1;
        }
    }

    /// How many of the first places share the highest weight.
    pub fn equal_best(&mut self) -> usize {
        let Some(first) = self.first(1).first().copied() else {
            return 0;
        };
        let best = self.weights[first as usize];
        // One pass rather than a sort: they may be all there are.
        let weights = &self.weights;
        self.places.iter().filter(|p| order(weights[**p as usize], best).is_eq()).count()
    }

    fn sort_to(&mut self, count: usize) {
        while self.sorted < count {
            let rest = &mut self.places[self.sorted..];
            let weights = &self.weights;
            let by_weight = |a: &u32, b: &u32| by_weight(weights, *a, *b);
            let step = STEP.max(self.sorted).max(count - self.sorted).min(rest.len());
            if step < rest.len() {
                rest.select_nth_unstable_by(step, by_weight);
            }
            rest[..step].sort_unstable_by(by_weight);
            self.sorted += step;
        }
    }
}

fn by_weight(weights: &[f64], a: u32, b: u32) -> Ordering {
    order(weights[b as usize], weights[a as usize]).then(a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_beginning_of_the_whole() {
        let weights: Vec<f64> = (0..1000).map(|n| f64::from((n * 7919) % 97)).collect();
        let weights = Arc::new(weights);
        let mut all: Vec<u32> = (0..1000).collect();
        all.sort_by(|a, b| order(weights[*b as usize], weights[*a as usize]));
        let mut ranking = Ranking::new(weights.clone());
        for count in [1, 3, 64, 65, 300, 999, 5000] {
            assert_eq!(ranking.first(count), &all[..count.min(1000)], "{count}");
        }
        for sorted in [0, 5, 999] {
            let mut ranking = Ranking::new(weights.clone());
            ranking.first(sorted);
            ranking.lift(all[500]);
            let others = all.iter().copied().filter(|place| *place != all[500]);
            let lifted: Vec<u32> = std::iter::once(all[500]).chain(others).collect();
            assert_eq!(ranking.first(1000), lifted, "{sorted}");
        }
        assert_eq!(Ranking::new(weights.clone()).equal_best(), 10);
        assert_eq!(Ranking::new(Arc::default()).first(3), &[0_u32; 0]);
    }
}

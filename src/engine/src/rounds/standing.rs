//! The order of hosts over the rounds of one request, kept rather than sorted
//! anew.
//!
//! Each round orders the hosts by weight; equal weights keep the order of the
//! round before. So the order of two hosts is that of their weights in this
//! round, or else in the last one in which they differed, or else of their
//! places. Between two rounds in which all weights change only single hosts
//! have others, so little is to be kept to say so.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::multiplier::order;
use crate::weigh::Change;

/// Hosts of which one leader is known.
const BLOCK: usize = 256;

/// Places of hosts in order, the best first, for round after round.
///
/// The weights themselves are the caller's: every call is to be given those of
/// the round.
#[derive(Debug)]
pub(super) struct Standing {
    round: u32,
    /// All weights that were, with the round from which they held: the oldest
    /// first.
    before: Vec<(u32, Arc<Vec<f64>>)>,
    /// The round from which the weights hold, but for those moved.
    since: u32,
    /// All weights of a host that moved alone, with the rounds from which they
    /// held: the oldest first.
    moved: BTreeMap<u32, Vec<(u32, f64)>>,
    /// The best place of each block.
    leaders: Vec<u32>,
}

impl Standing {
    /// The first round.
    pub fn new(weights: &[f64]) -> Self {
        let mut standing = Self {
            round: 0,
            before: Vec::new(),
            since: 0,
            moved: BTreeMap::new(),
            leaders: Vec::new(),
        };
        standing.find_leaders(weights);
        standing
    }

    /// The next round, in which the host at `place` has another weight.
    pub fn turn(&mut self, place: u32, weights: &[f64], change: Change) {
        self.round += 1;
        let (round, at) = (self.round, place as usize);
        if !self.moved.contains_key(&place) {
            let now = match &change {
                Change::One(was) => *was,
                Change::All(were) => were[at],
            };
            let before = self.before.iter().map(|(since, all)| (*since, all[at]));
            let all = before.chain([(self.since, now)]).collect();
            self.moved.insert(place, all);
        }
        match change {
            Change::One(_) => {
                if let Some(past) = self.moved.get_mut(&place) {
                    past.push((round, weights[at]));
                }
                let block = at / BLOCK;
                self.leaders[block] = self.leader(weights, block);
            }
            Change::All(were) => {
                self.before.push((self.since, were));
                self.since = round;
                for (place, past) in &mut self.moved {
                    past.push((round, weights[*place as usize]));
                }
                self.find_leaders(weights);
            }
        }
    }

    /// All places in order, found as they are asked for.
    pub fn descent(&self) -> Descent {
        Descent { heads: self.leaders.clone() }
    }

    fn find_leaders(&mut self, weights: &[f64]) {
        let blocks = weights.len().div_ceil(BLOCK);
        self.leaders = (0..blocks).map(|block| self.leader(weights, block)).collect();
    }

    /// The best place of a block.
    fn leader(&self, weights: &[f64], block: usize) -> u32 {
        let best = places(weights, block).min_by(|a, b| self.compare(weights, *a, *b));
        best.unwrap_or_default()
    }

    fn compare(&self, weights: &[f64], a: u32, b: u32) -> Ordering {
        let now = order(weights[b as usize], weights[a as usize]);
        now.then_with(|| self.compare_past(weights, a, b))
    }

    /// The order of two hosts of equal weight.
    fn compare_past(&self, weights: &[f64], a: u32, b: u32) -> Ordering {
        let (mut of_a, mut of_b) = (self.past(weights, a), self.past(weights, b));
        let (mut past_a, mut past_b) = (of_a.next(), of_b.next());
        while let (Some((from_a, weight_a)), Some((from_b, weight_b))) = (past_a, past_b) {
            let then = order(weight_b, weight_a);
            if then.is_ne() {
                return then;
            }
            // Back to before the younger of the two.
            if from_a >= from_b {
                past_a = of_a.next();
            }
            if from_b >= from_a {
                past_b = of_b.next();
            }
        }
        a.cmp(&b)
    }

    /// The weights that a host has had, with the rounds from which it had
    /// them: the newest first, the last of them from the first round on.
    fn past<'a>(&'a self, weights: &'a [f64], place: u32) -> impl Iterator<Item = (u32, f64)> + 'a {
        let alone = self.moved.get(&place);
        let with_all = alone.is_none().then(|| {
            let before = self.before.iter().rev();
            let before = before.map(move |(since, all)| (*since, all[place as usize]));
            std::iter::once((self.since, weights[place as usize])).chain(before)
        });
        let alone = alone.into_iter().flat_map(|past| past.iter().rev().copied());
        alone.chain(with_all.into_iter().flatten())
    }
}

/// Places in order, each found when it is asked for.
#[derive(Clone, Debug)]
pub(super) struct Descent {
    /// The best place of each block that was not given yet.
    heads: Vec<u32>,
}

impl Descent {
    /// The next place.
    pub fn next(&mut self, standing: &Standing, weights: &[f64]) -> Option<u32> {
        let better = |a: &u32, b: &u32| standing.compare(weights, *a, *b);
        let heads = self.heads.iter().copied().enumerate();
        let (at, next) = heads.min_by(|(_, a), (_, b)| better(a, b))?;
        let rest = places(weights, next as usize / BLOCK);
        match rest.filter(|place| better(&next, place).is_lt()).min_by(better) {
            Some(place) => self.heads[at] = place,
            None => drop(self.heads.swap_remove(at)),
        }
        Some(next)
    }
}

fn places(weights: &[f64], block: usize) -> Range<u32> {
    let end = weights.len().min((block + 1) * BLOCK);
    (block * BLOCK) as u32..end as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn ordered(standing: &Standing, weights: &[f64]) -> Vec<u32> {
        let mut descent = standing.descent();
        std::iter::from_fn(|| descent.next(standing, weights)).collect()
    }

    #[test]
    fn each_round_is_a_stable_sort_of_the_one_before() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for hosts in [1, 2, 20, 300, 600] {
            // Few values: most hosts are equal to many.
            let mut draw = || f64::from(rng.random_range(0..4_u8));
            let mut weights: Vec<f64> = (0..hosts).map(|_| draw()).collect();
            let mut standing = Standing::new(&weights);
            let mut sorted: Vec<u32> = (0..hosts).collect();
            for round in 0..40 {
                sorted.sort_by(|a, b| order(weights[*b as usize], weights[*a as usize]));
                assert_eq!(ordered(&standing, &weights), sorted, "{hosts} hosts, round {round}");
                let place = sorted[(draw() as usize).min(sorted.len() - 1)];
                let change = if draw() == 0.0 {
                    let before = Arc::new(weights.clone());
                    weights.iter_mut().for_each(|weight| *weight = draw());
                    Change::All(before)
                } else {
                    Change::One(std::mem::replace(&mut weights[place as usize], draw()))
                };
                standing.turn(place, &weights, change);
            }
        }
    }
}

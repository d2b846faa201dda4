//! The best host for a shape, kept up to date change by change.
//!
//! Per shape it keeps the score of every host on which the shape fits now, and
//! how far in the world's log of changes it has looked. A host's score depends
//! on that host alone, so only changed hosts are judged again; the answer is
//! the very host that a full scan would give.

use super::objects::ShapeIx;
use super::plugin::NodePredicate;
use super::state::State;
use super::tiers::Tiers;
use foldhash::{HashMap, HashMapExt};
use std::collections::hash_map;
use stowplan_engine::fault::Fault;
use stowplan_engine::{HostIx, HostSet, HostView};

/// Hosts in a block of which the best score is kept.
const BLOCK: usize = 64;

/// Changed hosts, as a part of all, beyond which all are judged again.
const MANY: usize = 12;

/// Best hosts by shape.
#[derive(Default)]
pub struct Finder {
    entries: HashMap<ShapeIx, Judged>,
}

/// What is known of all hosts for one shape.
struct Judged {
    predicates: Vec<Box<dyn NodePredicate>>,
    /// Hosts that no change of this session makes pass or fail.
    passing: HostSet,
    /// By rank; minus infinity where the shape does not fit.
    scores: Vec<f64>,
    /// The best of each block.
    best: Vec<f64>,
    seen: usize,
}

impl Finder {
    /// Without any shape.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: HashMap::new() }
    }

    /// The best host on which a shape fits now, the first by name of equals.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub fn best(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
    ) -> Result<Option<HostIx>, Fault> {
        let entry = self.entry(state, tiers, shape)?;
        entry.catch_up(state, tiers, shape)?;
        Ok(entry.first_best().and_then(|rank| state.world.order().get(rank).copied()))
    }

    /// The best host on which a shape fits once others have left.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub fn best_in_future(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
    ) -> Result<Option<HostIx>, Fault> {
        if !state.world.is_releasing() {
            return Ok(None);
        }
        let entry = self.entry(state, tiers, shape)?;
        let mut best: Option<(f64, HostIx)> = None;
        for &host in state.world.order() {
            let fits = entry.passing.contains(host)
                && state.world.fits_future(host, &state[shape].request)
                && entry.passes_now(state, host)?;
            if fits {
                let score = score(state, tiers, shape, host);
                if best.is_none_or(|(highest, _)| score > highest) {
                    best = Some((score, host));
                }
            }
        }
        Ok(best.map(|(_, host)| host))
    }

    fn entry(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
    ) -> Result<&mut Judged, Fault> {
        match self.entries.entry(shape) {
            hash_map::Entry::Occupied(known) => Ok(known.into_mut()),
            hash_map::Entry::Vacant(place) => Ok(place.insert(Judged::new(state, tiers, shape)?)),
        }
    }
}

impl Judged {
    fn new(state: &State, tiers: &Tiers, shape: ShapeIx) -> Result<Self, Fault> {
        let predicates = tiers.predicates(state, shape)?;
        let mut passing = state.world.live().clone();
        for predicate in &predicates {
            predicate.narrow(&state.world, &mut passing)?;
        }
        let hosts = state.world.order().len();
        let mut entry = Self {
            predicates,
            passing,
            scores: vec![f64::NEG_INFINITY; hosts],
            best: vec![f64::NEG_INFINITY; hosts.div_ceil(BLOCK)],
            seen: state.world.changes(),
        };
        entry.judge_all(state, tiers, shape)?;
        Ok(entry)
    }

    fn catch_up(&mut self, state: &State, tiers: &Tiers, shape: ShapeIx) -> Result<(), Fault> {
        let changed = state.world.touched_since(self.seen);
        self.seen = state.world.changes();
        if changed.len() * MANY > self.scores.len() {
            return self.judge_all(state, tiers, shape);
        }
        for &host in changed {
            self.judge(state, tiers, shape, host)?;
        }
        for &host in changed {
            self.sum_up(state.world.rank(host) / BLOCK);
        }
        Ok(())
    }

    fn judge_all(&mut self, state: &State, tiers: &Tiers, shape: ShapeIx) -> Result<(), Fault> {
        for &host in state.world.order() {
            self.judge(state, tiers, shape, host)?;
        }
        (0..self.best.len()).for_each(|block| self.sum_up(block));
        Ok(())
    }

    fn judge(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
        host: HostIx,
    ) -> Result<(), Fault> {
        let fits = self.passing.contains(host)
            && state.world.fits_idle(host, &state[shape].request)
            && self.passes_now(state, host)?;
        let score = if fits { score(state, tiers, shape, host) } else { f64::NEG_INFINITY };
        if let Some(slot) = self.scores.get_mut(state.world.rank(host)) {
            *slot = score;
        }
        Ok(())
    }

    fn passes_now(&self, state: &State, host: HostIx) -> Result<bool, Fault> {
        for predicate in &self.predicates {
            if !predicate.passes_now(&state.world, host)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn sum_up(&mut self, block: usize) {
        let scores = self.scores.iter().skip(block * BLOCK).take(BLOCK);
        let best = scores.copied().fold(f64::NEG_INFINITY, f64::max);
        if let Some(slot) = self.best.get_mut(block) {
            *slot = best;
        }
    }

    fn first_best(&self) -> Option<usize> {
        let best = self.best.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if best == f64::NEG_INFINITY {
            return None;
        }
        let block = self.best.iter().position(|score| *score == best)?;
        let inside = self.scores.iter().skip(block * BLOCK).take(BLOCK);
        inside.clone().position(|score| *score == best).map(|at| block * BLOCK + at)
    }
}

/// The sum of all scores. A score that is no number counts as 0, so that every
/// host on which a shape fits can be chosen.
fn score(state: &State, tiers: &Tiers, shape: ShapeIx, host: HostIx) -> f64 {
    let scores = tiers.scores().map(|score| score.score(&state.world, host, &state[shape]));
    let sum: f64 = scores.sum();
    if sum.is_finite() { sum } else { 0.0 }
}

//! The best host, kept up to date change by change.

use super::state::State;
use stowplan_engine::HostIx;
use stowplan_engine::fault::Fault;

/// Hosts in a block of which the best score is kept.
const BLOCK: usize = 64;

/// Changed hosts, as a part of all, beyond which all are judged again.
const MANY: usize = 12;

/// Scores of all hosts for one shape.
pub(super) struct Index {
    /// By rank; minus infinity where the shape does not fit.
    scores: Vec<f64>,
    /// The best of each block.
    best: Vec<f64>,
    /// How much of the world's log of changes it has seen; nothing at first.
    seen: Option<usize>,
}

impl Index {
    /// Nothing is known of any host yet.
    pub(super) fn new(state: &State) -> Self {
        let hosts = state.world.order().len();
        Self {
            scores: vec![f64::NEG_INFINITY; hosts],
            best: vec![f64::NEG_INFINITY; hosts.div_ceil(BLOCK)],
            seen: None,
        }
    }

    /// Judges the hosts that have changed: their score, or none where the shape
    /// does not fit.
    ///
    /// # Errors
    /// A host that cannot be judged.
    pub(super) fn catch_up(
        &mut self,
        state: &State,
        judge: impl Fn(HostIx) -> Result<Option<f64>, Fault>,
    ) -> Result<(), Fault> {
        let changed = self.seen.map(|seen| state.world.touched_since(seen));
        let changed = changed.filter(|changed| changed.len() * MANY <= self.scores.len());
        self.seen = None;
        let hosts = changed.unwrap_or(state.world.order());
        for &host in hosts {
            let score = judge(host)?.unwrap_or(f64::NEG_INFINITY);
            if let Some(slot) = self.scores.get_mut(state.world.rank(host)) {
                *slot = score;
            }
        }
        match changed {
            Some(changed) => {
                changed.iter().for_each(|host| self.sum_up(state.world.rank(*host) / BLOCK));
            }
            None => (0..self.best.len()).for_each(|block| self.sum_up(block)),
        }
        self.seen = Some(state.world.changes());
        Ok(())
    }

    fn sum_up(&mut self, block: usize) {
        let scores = self.scores.iter().skip(block * BLOCK).take(BLOCK);
        let best = scores.copied().fold(f64::NEG_INFINITY, f64::max);
        if let Some(slot) = self.best.get_mut(block) {
            *slot = best;
        }
    }

    /// The score of the host of a rank; none where the shape does not fit.
    pub(super) fn score(&self, rank: usize) -> Option<f64> {
        self.scores.get(rank).copied().filter(|score| *score > f64::NEG_INFINITY)
    }

    /// The rank of the best host, the first of equals.
    pub(super) fn first_best(&self) -> Option<usize> {
        let best = self.best.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if best == f64::NEG_INFINITY {
            return None;
        }
        let block = self.best.iter().position(|score| *score == best)?;
        let mut inside = self.scores.iter().skip(block * BLOCK).take(BLOCK);
        inside.position(|score| *score == best).map(|at| block * BLOCK + at)
    }
}

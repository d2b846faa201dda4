//! A mix and the prices learnt from it, kept together.

use super::mix::Mix;
use super::prices::Prices;
use super::room::{Demand, Kind, Need, Room};
use std::hash::Hash;
use std::sync::Arc;

/// Arrivals before prices are learnt for the first time.
const FIRST: u64 = 16;

/// Arrivals after which they are learnt anew, at the latest.
const AGAIN: u64 = 512;

/// What a caller keeps from one decision to the next.
#[derive(Clone, Debug)]
pub struct Learner<S> {
    /// What has arrived.
    pub mix: Mix<S>,
    prices: Arc<Prices>,
    /// How much had arrived when prices were last learnt.
    learnt: u64,
}

impl<S> Default for Learner<S> {
    fn default() -> Self {
        Self { mix: Mix::default(), prices: Arc::default(), learnt: 0 }
    }
}

impl<S: Eq + Hash + Clone> Learner<S> {
    /// The newest prices.
    #[must_use]
    pub fn prices(&self) -> &Arc<Prices> {
        &self.prices
    }

    /// Whether so much has arrived that prices should be learnt anew: each time
    /// the arrivals have doubled, later every 512.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.mix.arrived() - self.learnt >= self.learnt.clamp(FIRST, AGAIN)
    }

    /// Learns prices anew for hosts as they are. `need` says what a shape takes of
    /// a kind of host, none where it may not go.
    pub fn learn(
        &mut self,
        kinds: &[Kind],
        rooms: impl IntoIterator<Item = Room>,
        need: impl Fn(&S, usize) -> Option<Need>,
    ) {
        let demands: Vec<Demand> = self
            .mix
            .iter()
            .map(|(shape, weight)| Demand {
                weight,
                needs: (0..kinds.len()).map(|kind| need(shape, kind)).collect(),
            })
            .collect();
        self.prices = Arc::new(self.prices.learn(kinds, rooms, demands));
        self.learnt = self.mix.arrived();
    }
}

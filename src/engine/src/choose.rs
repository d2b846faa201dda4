//! Which of the weighed hosts it is to be.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::config::EngineConfig;
use crate::multiplier::order;
use crate::table::HostIx;
use crate::weigh::Weighed;

/// Hosts in the order in which they are to be tried, and how the first came
/// to be the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// All hosts; the rest keep the order of their weights.
    pub hosts: Vec<HostIx>,
    /// How the first was found.
    pub draw: Draw,
}

/// How the first host was found among the weighed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Draw {
    /// The host was drawn from this many of the best (`host_subset_size`, or
    /// all when there are fewer).
    pub from_best: usize,
    /// The place drawn among them, 0 for the best.
    pub place: usize,
    /// Hosts of equal best weight that were shuffled; 0 when they were not
    /// (`shuffle_best_same_weighed_hosts`).
    pub shuffled: usize,
}

/// Orders hosts by weight, shuffles those of equal best weight if the
/// configuration says so, and draws the first.
#[must_use]
pub fn choose(weighed: &Weighed, config: &EngineConfig, rng: &mut ChaCha8Rng) -> Chosen {
    let mut places = weighed.ranking();
    let mut shuffled = 0;
    if config.scheduler.shuffle_best_same_weighed_hosts && places.len() > 1 {
        let best = weighed.weights[places[0]];
        shuffled = places.partition_point(|p| order(weighed.weights[*p], best).is_eq());
        places[..shuffled].shuffle(rng);
    }
    let from_best = config.subset().min(places.len());
    // No number is drawn where nothing is to be decided: a seed then gives the
    // same choices whether the configuration has the option or not.
    let place = if from_best > 1 { rng.random_range(0..from_best) } else { 0 };
    if place > 0 {
        places[..=place].rotate_right(1);
    }
    Chosen {
        hosts: places.into_iter().map(|p| weighed.hosts[p]).collect(),
        draw: Draw { from_best, place, shuffled },
    }
}

//! Which of the weighed hosts it is to be.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::config::EngineConfig;
use crate::ranking::Ranking;
use crate::table::HostIx;
use crate::weigh::Weighed;

/// Hosts in the order in which they are to be tried, and how the first came
/// to be the first. The order is worked out as far as it is asked for.
#[derive(Clone, Debug)]
pub struct Chosen {
    hosts: Arc<Vec<HostIx>>,
    ranking: Ranking,
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

impl Chosen {
    /// Whether there is no host.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The host to be tried after `tried` others.
    pub fn after(&mut self, tried: usize) -> Option<HostIx> {
        let place = self.ranking.first(tried + 1).get(tried)?;
        self.hosts.get(*place as usize).copied()
    }

    /// All hosts in order.
    #[must_use]
    pub fn into_hosts(mut self) -> Vec<HostIx> {
        let hosts = &self.hosts;
        self.ranking.first(hosts.len()).iter().map(|place| hosts[*place as usize]).collect()
    }
}

/// Orders hosts by weight, but for one that comes first whatever its weight.
#[must_use]
pub fn choose_first(weighed: &Weighed, first: HostIx) -> Chosen {
    let mut ranking = weighed.ranked();
    if let Some(place) = weighed.hosts.iter().position(|host| *host == first) {
        ranking.lift(place as u32);
    }
    Chosen {
        hosts: weighed.hosts.clone(),
        ranking,
        draw: Draw { from_best: 1, place: 0, shuffled: 0 },
    }
}

/// Orders hosts by weight, shuffles those of equal best weight if the
/// configuration says so, and draws the first; the rest keep the order of
/// their weights.
#[must_use]
pub fn choose(weighed: &Weighed, config: &EngineConfig, rng: &mut ChaCha8Rng) -> Chosen {
    let mut ranking = weighed.ranked();
    let mut shuffled = 0;
    if config.scheduler.shuffle_best_same_weighed_hosts && ranking.len() > 1 {
        shuffled = ranking.equal_best();
        ranking.first_mut(shuffled).shuffle(rng);
    }
    let from_best = config.subset().min(ranking.len());
    // No number is drawn where nothing is to be decided: a seed then gives the
    // same choices whether the configuration has the option or not.
    let place = if from_best > 1 { rng.random_range(0..from_best) } else { 0 };
    if place > 0 {
        ranking.first_mut(place + 1).rotate_right(1);
    }
    let draw = Draw { from_best, place, shuffled };
    Chosen { hosts: weighed.hosts.clone(), ranking, draw }
}

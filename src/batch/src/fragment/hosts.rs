//! What hosts are worth in one session.

use super::kinds::Grouping;
use crate::session::Shape;
use crate::world::World;
use std::sync::Arc;
use stowplan_engine::fragment::Prices;
use stowplan_engine::{HostIx, HostView};

/// What hosts are worth in one session.
#[derive(Clone, Debug)]
pub struct Outlook {
    grouping: Arc<Grouping>,
    prices: Arc<Prices>,
    /// The kinds of hosts, by number of the host.
    kinds: Vec<Option<usize>>,
}

impl Outlook {
    pub(super) fn new(world: &World, grouping: Arc<Grouping>, prices: Arc<Prices>) -> Self {
        let mut kinds = vec![None; world.slots()];
        for &host in world.order() {
            kinds[host.index()] = grouping.kind_of(world, host);
        }
        Self { grouping, prices, kinds }
    }

    /// What a shape wastes on a host, as a part of what it takes itself: 0 where
    /// nothing is known, below 0 where no other host would do so well.
    pub fn waste(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let known = || {
            let kind = self.kinds.get(host.index()).copied().flatten()?;
            let need = self.grouping.need_on(shape, kind)?;
            let room = self.grouping.room(world, host, kind)?;
            self.prices.waste(&room, &need)
        };
        known().unwrap_or_default() / self.grouping.worth(shape)
    }
}

//! Topology domains: hosts that are near to each other, in tiers. A lower tier
//! is nearer; a domain of a higher one may have others as members. Above all of
//! them is the top, a domain of all hosts, which nobody has to declare.

mod build;
mod search;

use super::objects::{CellIx, DomainIx};
use crate::amounts::Amounts;
use crate::world::World;
pub use build::DomainInput;
pub(super) use search::Asked;
pub use search::Purpose;
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_engine::HostIx;

/// The name of the top.
pub const TOP: &str = "<top>";

/// A domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// Its tier: the lower, the nearer its hosts are to each other.
    pub tier: i64,
    /// The domain that it is a member of; none for the top.
    pub parent: Option<DomainIx>,
    /// The domains that are members of it, in order of their numbers.
    pub children: Vec<DomainIx>,
    /// All its hosts, those of its members included, in order of their names.
    pub hosts: Vec<HostIx>,
}

/// What a domain's hosts had together when the session was opened.
#[derive(Clone, Debug, Default)]
struct Room {
    allocatable: Amounts,
    idle: Amounts,
    future: Amounts,
}

/// All domains of a session.
#[derive(Clone, Debug)]
pub struct Domains {
    all: Arc<Vec<Domain>>,
    /// By cell: the domains that its hosts are in, in order of their numbers.
    cells: Arc<Vec<Vec<DomainIx>>>,
    /// By host.
    cell_of: Arc<Vec<CellIx>>,
    /// Tiers by their names.
    names: Arc<BTreeMap<String, i64>>,
    rooms: Arc<Vec<Room>>,
}

impl Domains {
    /// Sums up what domains have as things stand: from then on searches go by
    /// that.
    pub(super) fn measure(&mut self, world: &World) {
        if !self.has_any() {
            return;
        }
        let room = |domain: &Domain| {
            let mut room = Room::default();
            for (dim, _) in world.dims().iter() {
                let sum = |of: &dyn Fn(HostIx) -> i64| domain.hosts.iter().map(|h| of(*h)).sum();
                let allocatable = |host| world.amount(crate::world::Kind::Allocatable, dim, host);
                room.allocatable.set(dim, sum(&allocatable));
                room.idle.set(dim, sum(&|host| world.idle(dim, host)));
                room.future.set(dim, sum(&|host| world.future_idle(dim, host)));
            }
            room
        };
        self.rooms = Arc::new(self.all.iter().map(room).collect());
    }

    /// Whether there is any domain but the top.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.all.len() > 1
    }

    /// All of them, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (DomainIx, &Domain)> {
        self.all.iter().enumerate().map(|(at, domain)| (DomainIx(at as u32), domain))
    }

    /// A domain.
    #[must_use]
    pub fn get(&self, domain: DomainIx) -> &Domain {
        &self.all[domain.index()]
    }

    /// The domain of all hosts.
    #[must_use]
    pub fn top(&self) -> DomainIx {
        DomainIx(self.all.len() as u32 - 1)
    }

    /// The lowest and the highest tier, that of the top.
    #[must_use]
    pub fn tiers(&self) -> (i64, i64) {
        let tier = |domain: Option<&Domain>| domain.map_or(0, |domain| domain.tier);
        (tier(self.all.first()), tier(self.all.last()))
    }

    /// The tier of a name.
    #[must_use]
    pub fn tier_named(&self, name: &str) -> Option<i64> {
        self.names.get(name).copied()
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The cell of a host.
    #[must_use]
    pub fn cell_of(&self, host: HostIx) -> CellIx {
        self.cell_of.get(host.index()).copied().unwrap_or(CellIx(0))
    }

    /// The domains that hosts of a cell are in, the narrowest first.
    #[must_use]
    pub fn around(&self, cell: CellIx) -> &[DomainIx] {
        self.cells.get(cell.index()).map_or(&[], Vec::as_slice)
    }

    /// The narrowest domain of a host.
    #[must_use]
    pub fn narrowest(&self, host: HostIx) -> DomainIx {
        self.around(self.cell_of(host)).first().copied().unwrap_or(self.top())
    }

    /// Whether a host is in a domain.
    #[must_use]
    pub fn contains(&self, domain: DomainIx, host: HostIx) -> bool {
        self.around(self.cell_of(host)).contains(&domain)
    }

    /// A domain and all that it is a member of, up to the top.
    pub fn up(&self, domain: DomainIx) -> impl Iterator<Item = DomainIx> + '_ {
        std::iter::successors(Some(domain), |at| self.get(*at).parent)
    }

    /// The narrowest domain that both are in.
    #[must_use]
    pub fn common(&self, a: DomainIx, b: DomainIx) -> DomainIx {
        self.up(b).find(|domain| self.up(a).any(|other| other == *domain)).unwrap_or(self.top())
    }

    /// What of a place becomes when something else is placed besides.
    #[must_use]
    pub fn joined(&self, placed: Option<DomainIx>, domain: DomainIx) -> DomainIx {
        placed.map_or(domain, |placed| self.common(domain, placed))
    }

    /// The narrowest domain that all these hosts are in; none for no host.
    #[must_use]
    pub fn of_hosts(&self, hosts: impl Iterator<Item = HostIx>) -> Option<DomainIx> {
        let mut shared: Option<Vec<DomainIx>> = None;
        for host in hosts {
            let around = self.around(self.cell_of(host));
            match &mut shared {
                None => shared = Some(around.to_vec()),
                Some(shared) => shared.retain(|domain| around.contains(domain)),
            }
        }
        shared.map(|shared| shared.first().copied().unwrap_or(self.top()))
    }
}

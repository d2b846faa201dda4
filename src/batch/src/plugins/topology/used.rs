//! What tasks that stay use of each domain.

use crate::amounts::{Amounts, DimIx};
use crate::session::{DomainIx, State};
use crate::world::Kind;
use stowplan_engine::HostIx;

/// What hosts of each domain have together, and what of it is in use; kept by
/// the world's log of changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    allocatable: Vec<Amounts>,
    used: Vec<Amounts>,
    /// By host: what of it is counted.
    counted: Vec<Amounts>,
    /// How much of the log it has seen.
    seen: usize,
}

impl PartialEq for Used {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &[Amounts], b: &[Amounts]| {
            let values = |all: &[Amounts]| -> Vec<Vec<(DimIx, i64)>> {
                all.iter().map(|it| it.iter().filter(|(_, value)| *value != 0).collect()).collect()
            };
            values(a) == values(b)
        };
        same(&self.used, &other.used)
    }
}

impl Used {
    /// As things stand. Without domains nobody asks.
    pub(super) fn of(state: &State) -> Self {
        if !state.domains.has_any() {
            return Self::default();
        }
        let (world, domains) = (&state.world, &state.domains);
        let count = domains.iter().count();
        let mut all = Self {
            allocatable: vec![Amounts::new(); count],
            used: vec![Amounts::new(); count],
            counted: vec![
                Amounts::new();
                world.order().iter().map(|h| h.index() + 1).max().unwrap_or(0)
            ],
            seen: world.changes(),
        };
        for &host in world.order() {
            for (dim, _) in world.dims().iter() {
                let has = world.amount(Kind::Allocatable, dim, host);
                for domain in domains.around(domains.cell_of(host)) {
                    let sum = &mut all.allocatable[domain.index()];
                    sum.set(dim, sum.get(dim) + has);
                }
            }
            all.count(state, host);
        }
        all
    }

    pub(super) fn get(&self, domain: DomainIx, dim: DimIx) -> i64 {
        self.used.get(domain.index()).map_or(0, |used| used.get(dim))
    }

    pub(super) fn allocatable(&self, domain: DomainIx, dim: DimIx) -> i64 {
        self.allocatable.get(domain.index()).map_or(0, |has| has.get(dim))
    }

    /// Looks at the hosts that have changed.
    pub(super) fn catch_up(&mut self, state: &State) {
        if self.used.is_empty() {
            return;
        }
        let mut last = None;
        for &host in state.world.touched_since(self.seen) {
            if last != Some(host) {
                self.count(state, host);
                last = Some(host);
            }
        }
        self.seen = state.world.changes();
    }

    fn count(&mut self, state: &State, host: HostIx) {
        let (world, domains) = (&state.world, &state.domains);
        let Some(counted) = self.counted.get_mut(host.index()) else { return };
        for (dim, _) in world.dims().iter() {
            let uses = world.staying(dim, host);
            let change = uses - counted.get(dim);
            if change == 0 {
                continue;
            }
            counted.set(dim, uses);
            for domain in domains.around(domains.cell_of(host)) {
                let sum = &mut self.used[domain.index()];
                sum.set(dim, sum.get(dim) + change);
            }
        }
    }
}

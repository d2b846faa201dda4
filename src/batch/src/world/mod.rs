//! The hosts as a session sees them: amounts in columns over the engine's
//! table, changed by steps that can each be taken back (rules 6 and 7).
//!
//! Steps are sums, not assignments, so any of them can be undone whatever came
//! after it, and hosts can be read anew in between.

mod build;
mod columns;
mod pick;
mod source;
mod steps;
mod traits;
mod view;

use crate::amounts::{Amounts, DimIx, Dims};
pub use columns::{Columns, Kind};
pub use source::{Ask, Pick, Picks, Room, Source, Sources};
use std::sync::Arc;
use stowplan_engine::{HostIx, HostSet, HostTable, HostView};
use stowplan_model::Uuid;
pub use traits::{TraitRule, TraitRules, TraitSet};

/// Fresh news of hosts, from wherever the world was built.
pub trait News {
    /// What a host has now, by the uuid of its compute node; none when it is
    /// gone.
    fn host(&self, uuid: Uuid, dims: &Dims) -> Option<HostState>;

    /// Whether the news count what this task holds already.
    fn counts(&self, task: Uuid) -> bool;
}

/// What a host has and what is used of it.
#[derive(Clone, Debug, Default)]
pub struct HostState {
    /// Where it comes from.
    pub sources: Sources,
    /// The engine's figures.
    pub figures: stowplan_engine::table::Figures,
}

/// All hosts of a session.
#[derive(Clone, Debug)]
pub struct World {
    dims: Arc<Dims>,
    table: HostTable,
    /// Hosts in order of their names: ties go to the first.
    order: Vec<HostIx>,
    /// The place of each host in that order.
    ranks: Vec<u32>,
    columns: Columns,
    sources: Vec<Sources>,
    /// Hosts on which the columns alone say what fits.
    plain: HostSet,
    /// Hosts as they were changed: what an index has to look at again.
    touched: Vec<HostIx>,
    /// Tasks that are giving back what they hold.
    releasing: usize,
}

impl World {
    /// Hosts of a table, in the order given, without any amounts yet.
    #[must_use]
    pub fn new(dims: Arc<Dims>, table: HostTable, order: Vec<HostIx>) -> Self {
        let slots = table.slots();
        let mut ranks = vec![u32::MAX; slots];
        for (rank, host) in order.iter().enumerate() {
            if let Some(slot) = ranks.get_mut(host.index()) {
                *slot = rank as u32;
            }
        }
        Self {
            columns: Columns::new(dims.count(), slots),
            sources: vec![Sources::default(); slots],
            plain: HostSet::with_room(slots),
            touched: Vec::new(),
            releasing: 0,
            dims,
            table,
            order,
            ranks,
        }
    }

    /// The dimensions.
    #[must_use]
    pub fn dims(&self) -> &Dims {
        &self.dims
    }

    /// The hosts in order of their names.
    #[must_use]
    pub fn order(&self) -> &[HostIx] {
        &self.order
    }

    /// The place of a host in the order of names.
    #[must_use]
    pub fn rank(&self, host: HostIx) -> usize {
        self.ranks.get(host.index()).map_or(usize::MAX, |rank| *rank as usize)
    }

    /// One amount of one host.
    #[must_use]
    pub fn amount(&self, kind: Kind, dim: DimIx, host: HostIx) -> i64 {
        self.columns.get(kind, dim, host)
    }

    /// What is left on a host.
    #[must_use]
    pub fn idle(&self, dim: DimIx, host: HostIx) -> i64 {
        self.columns.idle(dim, host)
    }

    /// What all hosts have together.
    #[must_use]
    pub fn total(&self) -> Amounts {
        let mut total = Amounts::new();
        for (dim, _) in self.dims.iter() {
            let all = self.order.iter().map(|h| self.columns.get(Kind::Allocatable, dim, *h));
            total.set(dim, all.sum());
        }
        total
    }

    /// What tasks that stay on a host ask for.
    #[must_use]
    pub fn staying(&self, dim: DimIx, host: HostIx) -> i64 {
        self.columns.staying(dim, host)
    }

    /// What will be left on a host.
    #[must_use]
    pub fn future_idle(&self, dim: DimIx, host: HostIx) -> i64 {
        self.columns.future_idle(dim, host)
    }

    /// What all hosts together have in use.
    #[must_use]
    pub fn total_used(&self) -> Amounts {
        let mut total = Amounts::new();
        for (dim, _) in self.dims.iter() {
            let all = self.order.iter().map(|h| self.columns.get(Kind::Used, dim, *h));
            total.set(dim, all.sum());
        }
        total
    }

    /// Whether a request fits into what is left on a host now.
    #[must_use]
    pub fn fits_idle(&self, host: HostIx, ask: Ask<'_>) -> bool {
        fits(ask.amounts, |dim| self.columns.idle(dim, host)) && self.gives(host, ask, Room::Now)
    }

    /// Whether a request fits into what will be left on a host once everything
    /// that is being given back is back.
    #[must_use]
    pub fn fits_future(&self, host: HostIx, ask: Ask<'_>) -> bool {
        fits(ask.amounts, |dim| self.columns.future_idle(dim, host))
            && self.gives(host, ask, Room::Later)
    }

    /// Whether a host has providers of the traits that a request asks for,
    /// whatever is left of them.
    #[must_use]
    pub fn allows(&self, host: HostIx, ask: Ask<'_>) -> bool {
        self.sources_of(host).allow(ask)
    }

    /// Whether a host's providers, one by one, can give what fits in all.
    #[must_use]
    pub fn gives(&self, host: HostIx, ask: Ask<'_>, room: Room) -> bool {
        match self.plain.contains(host) {
            true => self.allows(host, ask),
            false => self.sources_of(host).pick(ask, room).is_some(),
        }
    }

    /// Whether what tasks hold of a host has to be known provider by provider:
    /// it has devices.
    #[must_use]
    pub fn has_devices(&self, host: HostIx) -> bool {
        !self.plain.contains(host)
    }

    /// The providers of a host that give a dimension: one, or one per device,
    /// in order of creation.
    #[must_use]
    pub fn devices(&self, host: HostIx, dim: DimIx) -> &[Source] {
        self.sources_of(host).of(dim)
    }

    /// How full the devices would be, from 0 to 1 in the mean, that a request
    /// would take on a host now; none where it takes none.
    #[must_use]
    pub fn device_fill(&self, host: HostIx, ask: Ask<'_>) -> Option<f64> {
        let (sources, root) = (self.sources_of(host), self.facts(host).uuid);
        let (mut sum, mut count) = (0.0, 0);
        for pick in sources.pick(ask, Room::Now)?.iter().filter(|pick| pick.dim != DimIx::PODS) {
            let mut same = sources.of(pick.dim).iter().filter(|it| it.provider == pick.provider);
            if let Some(source) = same.next().filter(|source| source.provider != root) {
                sum += (source.used + pick.amount) as f64 / source.capacity.max(1) as f64;
                count += 1;
            }
        }
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Whether anything is being given back anywhere.
    #[must_use]
    pub fn is_releasing(&self) -> bool {
        self.releasing > 0
    }

    /// How many changes there were so far.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.touched.len()
    }

    /// The hosts changed since `seen` changes, in order, with repetitions.
    #[must_use]
    pub fn touched_since(&self, seen: usize) -> &[HostIx] {
        self.touched.get(seen..).unwrap_or_default()
    }

    /// Where the amounts of a host come from.
    pub(crate) fn sources_of(&self, host: HostIx) -> &Sources {
        static NONE: Sources = Sources::NONE;
        self.sources.get(host.index()).unwrap_or(&NONE)
    }
}

fn fits(request: &Amounts, left: impl Fn(DimIx) -> i64) -> bool {
    if request.is_empty() { request.fits(left) } else { request.within(left) }
}

impl PartialEq for World {
    /// Equal when hosts have and hold the same; how it came about makes no
    /// difference.
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
            && self.columns == other.columns
            && self.sources == other.sources
            && self.table == other.table
    }
}

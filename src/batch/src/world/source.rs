//! Where on a host amounts come from: one provider per device, as a rule one
//! for everything else.

use super::pick::choose;
use super::{TraitRules, TraitSet};
use crate::amounts::{Amounts, DimIx};
use smallvec::SmallVec;
use std::sync::Arc;
use stowplan_model::Uuid;

/// What one provider of a host's tree has of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The dimension.
    pub dim: DimIx,
    /// The provider.
    pub provider: Uuid,
    /// Its traits.
    pub traits: Arc<TraitSet>,
    /// What it may give in all, in quanta.
    pub capacity: i64,
    /// What is held of it.
    pub used: i64,
    /// The part of that which is being given back, where a host has devices.
    pub releasing: i64,
    /// What of it is promised.
    pub promised: i64,
    /// The least that one holder may take.
    pub min_unit: i64,
    /// The most that one holder may take.
    pub max_unit: i64,
    /// Every amount is a multiple of this.
    pub step_size: i64,
}

/// Which room of a source is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// What is free now and promised to nobody.
    Now,
    /// What will be free once all that is being given back is back, and all
    /// promises are kept.
    Later,
}

impl Source {
    /// A source that gives any amount up to its capacity, of which nothing is
    /// held.
    #[must_use]
    pub fn plain(dim: DimIx, provider: Uuid, capacity: i64) -> Self {
        Self {
            dim,
            provider,
            traits: Arc::default(),
            capacity,
            used: 0,
            releasing: 0,
            promised: 0,
            min_unit: 1,
            max_unit: i64::MAX,
            step_size: 1,
        }
    }

    /// How much room it has.
    pub(super) fn free(&self, room: Room) -> i64 {
        let now = self.capacity - self.used;
        let later = now + self.releasing - self.promised;
        match room {
            Room::Now => now.min(later),
            Room::Later => later,
        }
    }

    /// Whether its own rules let one holder take so much.
    pub(super) fn takes(&self, amount: i64) -> bool {
        amount >= self.min_unit
            && amount <= self.max_unit
            && (self.step_size <= 1 || amount % self.step_size == 0)
    }

    /// Whether any amount up to what is free may be taken, so that looking at
    /// the host's columns says all.
    pub(crate) fn is_plain(&self) -> bool {
        self.min_unit <= 1 && self.max_unit >= self.capacity && self.step_size <= 1
    }
}

/// An amount taken from one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The dimension.
    pub dim: DimIx,
    /// The provider.
    pub provider: Uuid,
    /// How much.
    pub amount: i64,
}

/// What one task takes of a host.
pub type Picks = SmallVec<[Pick; 4]>;

/// What a task asks of a host.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// How much.
    pub amounts: &'a Amounts,
    /// Of which providers.
    pub traits: &'a TraitRules,
}

/// What of a source a step moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Book {
    Used,
    Releasing,
    Promised,
}

/// The sources of one host, in order of dimension, then of creation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    all: Vec<Source>,
}

impl Sources {
    /// No source.
    pub const NONE: Self = Self { all: Vec::new() };

    /// Adds a source after those of its dimension.
    pub fn push(&mut self, source: Source) {
        let at = self.all.partition_point(|other| other.dim <= source.dim);
        self.all.insert(at, source);
    }

    /// The sources of a dimension.
    #[must_use]
    pub fn of(&self, dim: DimIx) -> &[Source] {
        let from = self.all.partition_point(|source| source.dim < dim);
        let to = self.all.partition_point(|source| source.dim <= dim);
        &self.all[from..to]
    }

    /// Whether every dimension has one source at most, and that one gives any
    /// amount: then what fits the host's columns can be taken.
    #[must_use]
    pub fn are_plain(&self) -> bool {
        let single = self.all.windows(2).all(|pair| pair[0].dim != pair[1].dim);
        single && self.all.iter().all(Source::is_plain)
    }

    /// Whether the sources of each dimension that is asked for may give of it
    /// at all.
    pub(super) fn allow(&self, ask: Ask<'_>) -> bool {
        ask.traits.is_empty()
            || ask.amounts.positive().all(|(dim, _)| {
                self.of(dim).iter().any(|source| ask.traits.allow(dim, &source.traits))
            })
    }

    /// Chooses sources that have the room; none when they cannot give it.
    #[must_use]
    pub fn pick(&self, ask: Ask<'_>, room: Room) -> Option<Picks> {
        let mut picks = Picks::new();
        for (dim, amount) in ask.amounts.positive() {
            choose(self.of(dim), dim, amount, ask.traits, room, &mut picks)?;
        }
        Some(picks)
    }

    /// Enters what was picked in a book, or takes it out (`sign` -1).
    pub(super) fn enter(&mut self, book: Book, picks: &[Pick], sign: i64) {
        for pick in picks {
            let same =
                |source: &&mut Source| source.dim == pick.dim && source.provider == pick.provider;
            if let Some(source) = self.all.iter_mut().find(same) {
                let sum = match book {
                    Book::Used => &mut source.used,
                    Book::Releasing => &mut source.releasing,
                    Book::Promised => &mut source.promised,
                };
                *sum += sign * pick.amount;
            }
        }
    }

    /// Takes over what is promised and being given back: fresh news of a host
    /// say nothing of either.
    pub(super) fn keep_plans(&mut self, before: &Self) {
        for source in &mut self.all {
            let same = |old: &&Source| old.dim == source.dim && old.provider == source.provider;
            if let Some(old) = before.all.iter().find(same) {
                (source.releasing, source.promised) = (old.releasing, old.promised);
            }
        }
    }
}

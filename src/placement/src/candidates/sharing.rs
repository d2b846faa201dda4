//! Providers that share what they have with the trees of their aggregates.

use super::{masks::MaskCache, plan::Plan};
use crate::names::SHARES_VIA_AGGREGATE;
use foldhash::HashMap;
use smallvec::SmallVec;
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};

/// A sharing provider that some slot can use.
#[derive(Clone, Debug)]
pub(super) struct Sharer {
    pub at: At,
    /// The slots that it can serve in trees that are not its own.
    pub slots: SmallVec<[bool; 6]>,
    /// Whether the group without a suffix forbids one of its aggregates.
    pub outcast: bool,
}

/// The sharing providers that matter to a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    sharers: Vec<Sharer>,
    by_aggregate: HashMap<Ix, SmallVec<[usize; 2]>>,
    /// The trait of sharing providers.
    name: Option<Ix>,
}

impl Sharing {
    pub fn of(image: &Image, plan: &Plan, cache: &mut MaskCache) -> Self {
        let Some(name) = image.traits.ix(SHARES_VIA_AGGREGATE) else { return Self::default() };
        let mut found = Self { name: Some(name), ..Self::default() };
        for (number, block) in image.providers.blocks().iter().enumerate() {
            for inside in block.with_trait(name).iter() {
                let at = At::of(number, inside);
                let masks = cache.block(image, plan, number);
                // What the group without a suffix takes from outside a tree
                // must be in its aggregates itself, and a tree named for it
                // allows nothing from outside.
                let spread_may = masks.inside.has(inside)
                    && plan.spread.is_none_or(|group| plan.groups[group].tree.is_none());
                let serves = plan.slots.iter().zip(&masks.slots);
                let slots: SmallVec<[bool; 6]> = serves
                    .map(|(slot, mask)| mask.has(inside) && (slot.granular || spread_may))
                    .collect();
                if slots.contains(&true) {
                    let outcast = masks.outcast.has(inside);
                    found.add(image, Sharer { at, slots, outcast });
                }
            }
        }
        found
    }

    fn add(&mut self, image: &Image, sharer: Sharer) {
        let Some(provider) = image.providers.get(sharer.at) else { return };
        let number = self.sharers.len();
        for aggregate in provider.aggregates.iter() {
            self.by_aggregate.entry(*aggregate).or_default().push(number);
        }
        self.sharers.push(sharer);
    }

    /// Whether nobody shares anything that the plan asks for.
    pub fn is_empty(&self) -> bool {
        self.by_aggregate.is_empty()
    }

    /// Whether some sharing provider can serve a slot.
    pub fn serves(&self, slot: usize) -> bool {
        self.sharers.iter().any(|sharer| sharer.slots[slot])
    }

    /// Whether a provider shares.
    pub fn shares(&self, image: &Image, at: At) -> bool {
        self.name.is_some_and(|name| image.providers.has_trait(at, name))
    }

    /// The sharing providers outside a tree that share with it: those in an
    /// aggregate of any provider of the tree.
    pub fn with_tree(&self, image: &Image, tree: &[At]) -> Vec<&Sharer> {
        let mut numbers: Vec<usize> = Vec::new();
        for provider in tree.iter().filter_map(|at| image.providers.get(*at)) {
            for aggregate in provider.aggregates.iter() {
                numbers.extend(self.by_aggregate.get(aggregate).into_iter().flatten());
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let outside = |sharer: &&Sharer| !tree.contains(&sharer.at);
        numbers.into_iter().map(|number| &self.sharers[number]).filter(outside).collect()
    }
}

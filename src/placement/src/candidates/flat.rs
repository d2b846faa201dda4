//! The short way: nothing below a root has what is asked for and nobody shares
//! it, so a root must meet the whole query by itself. So it is in a cloud
//! without trees, and in one whose trees have other things in them, such as
//! devices or the bound on batch tasks.

use super::{
    masks::{Trees, flat},
    plan::Plan,
    query::{Candidate, Share},
};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use smallvec::SmallVec;
use stowplan_ledger::{
    Image,
    image::{mask::Mask, names::Ix, providers::At},
};

/// A walk over blocks of providers, stopping as early as its reader does.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    trees: Trees,
    /// What every candidate takes: class and amount, in the order of the slots.
    shares: SmallVec<[(Ix, i64); 4]>,
    /// How many groups every candidate maps.
    groups: usize,
    /// Blocks yet to come, last first.
    blocks: Vec<usize>,
    /// What is left of the current block.
    block: usize,
    left: Mask,
    /// The same in random order, when one is wanted.
    ready: Vec<usize>,
}

impl Flat {
    pub fn new(image: &Image, plan: &Plan, trees: Trees, random: Option<&mut ChaCha8Rng>) -> Self {
        let mut shares: SmallVec<[(Ix, i64); 4]> = SmallVec::new();
        for (class, amount) in plan.slots.iter().flat_map(|slot| &slot.needs) {
            match shares.iter_mut().find(|have| have.0 == *class) {
                Some(have) => have.1 = have.1.saturating_add(*amount),
                None => shares.push((*class, *amount)),
            }
        }
        // One provider cannot be several.
        let count = if plan.isolate { 0 } else { image.providers.blocks().len() };
        let mut blocks: Vec<usize> = (0..count).rev().collect();
        if let Some(random) = random {
            blocks.shuffle(random);
        }
        let groups = plan.groups.len();
        Self { trees, shares, groups, blocks, block: 0, left: Mask::NONE, ready: Vec::new() }
    }

    /// The places of a block that meet the plan, sums included.
    fn places(&self, image: &Image, plan: &Plan, number: usize) -> Mask {
        let block = &image.providers.blocks()[number];
        let mut left = flat(plan, &self.trees, number, block);
        for (class, amount) in self.shares.iter().filter(|have| plan.summed.contains(&have.0)) {
            let Some(column) = block.class(*class) else { return Mask::NONE };
            for inside in left.iter() {
                let room = column.capacity(inside).unwrap_or(0) - column.used(inside);
                let most = column.inventory(inside).map_or(0, |inventory| inventory.max_unit);
                if *amount > room.min(most) {
                    left.clear(inside);
                }
            }
        }
        left
    }

    /// Whether a root meets the plan.
    pub fn meets(&self, image: &Image, plan: &Plan, root: At) -> bool {
        let (number, inside) = crate::places::parts(root);
        !plan.isolate && self.places(image, plan, number).has(inside)
    }

    /// The candidate of a root that meets the plan.
    pub fn candidate(&self, root: At) -> Candidate {
        let share =
            |(class, amount): &(Ix, i64)| Share { provider: root, class: *class, amount: *amount };
        Candidate {
            root,
            allocations: self.shares.iter().map(share).collect(),
            mappings: SmallVec::from_elem(SmallVec::from_slice(&[root]), self.groups),
        }
    }

    /// The next root that meets the plan.
    pub fn next_root(
        &mut self,
        image: &Image,
        plan: &Plan,
        mut random: Option<&mut ChaCha8Rng>,
    ) -> Option<At> {
        loop {
            if let Some(inside) = self.ready.pop() {
                return Some(At::of(self.block, inside));
            }
            if let Some(inside) = self.left.iter().next() {
                self.left.clear(inside);
                return Some(At::of(self.block, inside));
            }
            self.block = self.blocks.pop()?;
            let places = self.places(image, plan, self.block);
            match random.as_deref_mut() {
                Some(random) => {
                    self.ready = places.iter().collect();
                    self.ready.shuffle(random);
                }
                None => self.left = places,
            }
        }
    }
}

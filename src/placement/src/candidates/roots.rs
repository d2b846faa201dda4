//! The roots that a search comes by, in an order that skips what cannot serve.

use super::{masks::MaskCache, plan::Plan, sharing::Sharing};
use crate::places::Seen;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use stowplan_ledger::{Image, image::providers::At};

/// Blocks that are looked at to find the rarest requirement.
const SAMPLE: usize = 8;

/// Goes through the roots of an image, block by block.
///
/// Where some slot can only be served from inside a tree, the providers that
/// can serve it lead to the roots; of several such slots, the rarest in a
/// sample of blocks.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    lead: Option<usize>,
    /// Blocks yet to come, last first.
    blocks: Vec<usize>,
    /// Roots of the current block, last first.
    ready: Vec<At>,
    /// Places of roots that have been given.
    seen: Seen,
}

impl Roots {
    pub fn new(
        image: &Image,
        plan: &Plan,
        sharing: &Sharing,
        cache: &mut MaskCache,
        random: Option<&mut ChaCha8Rng>,
    ) -> Self {
        let count = image.providers.blocks().len();
        let mut blocks: Vec<usize> = (0..count).rev().collect();
        if let Some(random) = random {
            blocks.shuffle(random);
        }
        let step = count.div_ceil(SAMPLE).max(1);
        let alone = (0..plan.slots.len()).filter(|slot| !sharing.serves(*slot));
        let lead = alone.min_by_key(|slot| -> u32 {
            let sample = (0..count).step_by(step);
            sample.map(|number| cache.block(image, plan, number).slots[*slot].count()).sum()
        });
        Self { lead, blocks, ready: Vec::new(), seen: Seen::new(image) }
    }

    pub fn next(
        &mut self,
        image: &Image,
        plan: &Plan,
        cache: &mut MaskCache,
        mut random: Option<&mut ChaCha8Rng>,
    ) -> Option<At> {
        loop {
            if let Some(root) = self.ready.pop() {
                return Some(root);
            }
            let number = self.blocks.pop()?;
            self.open(image, plan, cache, number);
            match random.as_deref_mut() {
                Some(random) => self.ready.shuffle(random),
                None => self.ready.reverse(),
            }
        }
    }

    fn open(&mut self, image: &Image, plan: &Plan, cache: &mut MaskCache, number: usize) {
        let block = &image.providers.blocks()[number];
        let masks = cache.block(image, plan, number);
        let places = self.lead.map_or(masks.roots, |slot| masks.slots[slot]);
        for inside in places.iter() {
            let Some(provider) = block.row(inside) else { continue };
            if self.seen.insert(provider.root) {
                self.ready.push(provider.root);
            }
        }
    }
}

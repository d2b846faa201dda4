//! Places of providers in blocks.

use stowplan_ledger::{
    Image,
    image::{block::BLOCK, mask::Mask, providers::At},
};

/// Number of the block of a place, and its number in the block.
pub(crate) fn parts(at: At) -> (usize, usize) {
    let place = at.0 as usize;
    (place / BLOCK, place % BLOCK)
}

/// Places of an image that have been come by.
#[derive(Clone, Debug)]
pub(crate) struct Seen(Vec<Mask>);

impl Seen {
    pub fn new(image: &Image) -> Self {
        Self(vec![Mask::NONE; image.providers.blocks().len()])
    }

    /// Whether a place is come by for the first time.
    pub fn insert(&mut self, at: At) -> bool {
        let (block, inside) = parts(at);
        let fresh = !self.0[block].has(inside);
        self.0[block].set(inside);
        fresh
    }
}

//! Places of providers in blocks.

use stowplan_ledger::image::{block::BLOCK, providers::At};

/// Number of the block of a place, and its number in the block.
pub(crate) fn parts(at: At) -> (usize, usize) {
    let place = at.0 as usize;
    (place / BLOCK, place % BLOCK)
}

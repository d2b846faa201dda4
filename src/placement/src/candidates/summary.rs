//! The providers that are told about beside the candidates.

use super::query::Candidate;
use crate::places::Seen;
use stowplan_ledger::{Image, image::providers::At};

/// The providers that `provider_summaries` describes: all of every tree that a
/// candidate takes something from; before 1.29 (`nested` false) only those
/// that it takes something from. In order of first appearance, tree by tree.
#[must_use]
pub fn summarised(image: &Image, candidates: &[Candidate], nested: bool) -> Vec<At> {
    let mut seen = Seen::new(image);
    let mut found = Vec::with_capacity(candidates.len());
    for share in candidates.iter().flat_map(|candidate| &candidate.allocations) {
        if !nested {
            if seen.insert(share.provider) {
                found.push(share.provider);
            }
            continue;
        }
        let Some(provider) = image.providers.get(share.provider) else { continue };
        if seen.insert(provider.root) {
            found.extend_from_slice(image.providers.tree_of(provider.root));
        }
    }
    found
}

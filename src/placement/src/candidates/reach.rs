//! Which sharing providers reach which tree, whatever they have.

use crate::names::SHARES_VIA_AGGREGATE;
use foldhash::HashMap;
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};

/// All sharing providers, by aggregate.
pub(super) struct Reach(HashMap<Ix, Vec<At>>);

impl Reach {
    pub fn of(image: &Image) -> Self {
        let mut by_aggregate: HashMap<Ix, Vec<At>> = HashMap::default();
        if let Some(name) = image.traits.ix(SHARES_VIA_AGGREGATE) {
            for (number, block) in image.providers.blocks().iter().enumerate() {
                for inside in block.with_trait(name).iter() {
                    let aggregates = block.row(inside).map(|row| row.aggregates.clone());
                    for aggregate in aggregates.iter().flat_map(|of| of.iter()) {
                        by_aggregate.entry(*aggregate).or_default().push(At::of(number, inside));
                    }
                }
            }
        }
        Self(by_aggregate)
    }

    /// The sharing providers outside a tree that share with it, by place.
    pub fn outside(&self, image: &Image, tree: &[At]) -> Vec<At> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let members = tree.iter().filter_map(|at| image.providers.get(*at));
        let mut found: Vec<At> = members
            .flat_map(|member| member.aggregates.iter())
            .filter_map(|aggregate| self.0.get(aggregate))
            .flatten()
            .copied()
            .filter(|at| !tree.contains(at))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

//! What all hosts have.

use crate::amounts::{Amounts, Dims};
use stowplan_ledger::Image;

/// What the trees of all hosts may give in the mapped classes, whoever holds
/// it: (total - reserved) x allocation ratio, rounded down (rule 1).
#[must_use]
pub fn physical(image: &Image, dims: &Dims) -> Amounts {
    let classes: Vec<_> = dims
        .iter()
        .filter_map(|(at, dim)| Some((image.classes.ix(dim.class.as_deref()?)?, at)))
        .collect();
    let mut total = Amounts::new();
    for host in image.hosts.iter() {
        let Some(root) = image.providers.find(host.row.uuid) else { continue };
        for &at in image.providers.tree_of(root) {
            for &(class, dim) in &classes {
                if let Some(inventory) = image.providers.inventory(at, class) {
                    total.set(dim, total.get(dim).saturating_add(inventory.capacity().max(0)));
                }
            }
        }
    }
    total
}

//! Who holds what of a provider. What a consumer holds is in its own record
//! (`image.consumers.get`).

use smallvec::SmallVec;
use std::sync::Arc;
use stowplan_ledger::{
    Image,
    image::{consumers::Consumer, names::Ix, providers::At},
};

/// What one consumer holds of one provider.
#[derive(Clone, Debug)]
pub struct ConsumerShare<'a> {
    /// The consumer.
    pub consumer: &'a Arc<Consumer>,
    /// Units by class, in the order in which they were claimed.
    pub resources: SmallVec<[(Ix, i64); 3]>,
}

/// The allocations of a provider, in order of the consumers' uuids.
pub fn allocations_of_provider(image: &Image, at: At) -> impl Iterator<Item = ConsumerShare<'_>> {
    image.consumers.of_provider(at).map(move |consumer| {
        let here = consumer.allocations.iter().filter(|held| held.provider == at);
        ConsumerShare { consumer, resources: here.map(|held| (held.class, held.used)).collect() }
    })
}

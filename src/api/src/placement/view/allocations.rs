//! Allocations, by provider and by consumer.

use crate::version::{Feature, Version};
use serde::{Serialize, Serializer};
use stowplan_ledger::{
    Image,
    image::{
        consumers::{Allocation, Consumer},
        providers::At,
    },
};
use stowplan_placement::queries::{ConsumerShare, UNKNOWN_TYPE, allocations_of_provider};
use utoipa::ToSchema;

/// What a consumer holds.
#[derive(Serialize, ToSchema)]
pub struct ConsumerAllocations<'a> {
    /// By provider.
    #[schema(value_type = BTreeMap<Uuid, AtProvider<'static>>)]
    allocations: ByProvider<'a>,
    /// Project (from 1.12 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<&'a str>,
    /// User (from 1.12 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<&'a str>,
    /// The consumer's generation (from 1.28 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    consumer_generation: Option<i64>,
    /// Consumer type (from 1.38 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    consumer_type: Option<&'a str>,
}

impl<'a> ConsumerAllocations<'a> {
    /// What a consumer holds; nothing for one that does not exist.
    pub fn new(image: &'a Image, consumer: Option<&'a Consumer>, version: Version) -> Self {
        let from = |feature| consumer.filter(|_| version.has(feature));
        let owned = from(Feature::AllocationsByProvider);
        Self {
            allocations: ByProvider(image, consumer.map_or(&[], |c| &c.allocations)),
            project_id: owned.map(|consumer| &*consumer.project),
            user_id: owned.map(|consumer| &*consumer.user),
            consumer_generation: from(Feature::ConsumerGeneration).map(|c| c.generation),
            consumer_type: from(Feature::ConsumerTypes)
                .map(|consumer| consumer.consumer_type.as_deref().unwrap_or(UNKNOWN_TYPE)),
        }
    }
}

struct ByProvider<'a>(&'a Image, &'a [Allocation]);

impl Serialize for ByProvider<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(image, all) = self;
        let first = |(place, held): &(usize, &Allocation)| {
            !all[..*place].iter().any(|before| before.provider == held.provider)
        };
        serializer.collect_map(all.iter().enumerate().filter(first).map(|(_, held)| {
            let part = AtProvider {
                generation: image.providers.generation(held.provider),
                resources: OfProvider { image, all, at: held.provider },
            };
            (image.providers.uuid(held.provider), part)
        }))
    }
}

/// What a consumer holds of one provider.
#[derive(Serialize, ToSchema)]
#[schema(as = ProviderShare)]
pub struct AtProvider<'a> {
    /// The provider's generation.
    generation: i64,
    /// Units by class.
    #[schema(value_type = BTreeMap<String, i64>)]
    resources: OfProvider<'a>,
}

struct OfProvider<'a> {
    image: &'a Image,
    all: &'a [Allocation],
    at: At,
}

impl Serialize for OfProvider<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let here = self.all.iter().filter(|held| held.provider == self.at);
        serializer.collect_map(here.map(|held| (self.image.classes.name(held.class), held.used)))
    }
}

/// Who holds what of a provider.
#[derive(Serialize, ToSchema)]
pub struct ProviderAllocations<'a> {
    /// By consumer.
    #[schema(value_type = BTreeMap<Uuid, Share<'static>>)]
    allocations: ByConsumer<'a>,
    /// The provider's generation.
    resource_provider_generation: i64,
}

impl<'a> ProviderAllocations<'a> {
    /// Who holds what of the provider at a place.
    pub fn new(image: &'a Image, at: At, version: Version) -> Self {
        Self {
            allocations: ByConsumer { image, at, version },
            resource_provider_generation: image.providers.generation(at),
        }
    }
}

struct ByConsumer<'a> {
    image: &'a Image,
    at: At,
    version: Version,
}

/// What one consumer holds of a provider.
#[derive(Serialize, ToSchema)]
#[schema(as = ConsumerShare)]
pub struct Share<'a> {
    /// Units by class.
    #[schema(value_type = BTreeMap<String, i64>)]
    resources: Resources<'a>,
    /// The consumer's generation (from 1.28 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    consumer_generation: Option<i64>,
}

struct Resources<'a>(&'a Image, ConsumerShare<'a>);

impl Serialize for Resources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(image, share) = self;
        let named = share.resources.iter().map(|(class, used)| (image.classes.name(*class), used));
        serializer.collect_map(named)
    }
}

impl Serialize for ByConsumer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counted = self.version.has(Feature::ConsumerGeneration);
        serializer.collect_map(allocations_of_provider(self.image, self.at).map(|share| {
            let consumer = share.consumer;
            let share = Share {
                resources: Resources(self.image, share),
                consumer_generation: counted.then_some(consumer.generation),
            };
            (consumer.uuid, share)
        }))
    }
}

//! What is in use.

use serde::{Serialize, Serializer, ser::SerializeMap};
use std::collections::BTreeMap;
use stowplan_ledger::{
    Image,
    image::{providers::At, usage::Usage},
};
use stowplan_placement::queries::provider_usages;
use utoipa::ToSchema;

/// Units in use at a provider, by class.
#[derive(Serialize, ToSchema)]
pub struct ProviderUsages<'a> {
    /// The provider's generation.
    resource_provider_generation: i64,
    /// By class.
    #[schema(value_type = BTreeMap<String, i64>)]
    usages: AtProvider<'a>,
}

struct AtProvider<'a>(&'a Image, At);

impl<'a> ProviderUsages<'a> {
    /// What is in use at a provider.
    pub fn new(image: &'a Image, at: At) -> Self {
        Self {
            resource_provider_generation: image.providers.generation(at),
            usages: AtProvider(image, at),
        }
    }
}

impl Serialize for AtProvider<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(image, at) = self;
        let usages = provider_usages(image, *at);
        serializer.collect_map(usages.map(|(class, used)| (image.classes.name(class), used)))
    }
}

/// Units in use by class.
struct ByClass<'a>(&'a Image, &'a Usage);

impl Serialize for ByClass<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let units = self.1.units.iter();
        let names = units.map(|(class, used)| (self.0.classes.name(*class), used));
        serializer.collect_map(names)
    }
}

/// Units that a project holds, by class (before 1.38).
#[derive(Serialize, ToSchema)]
pub struct Usages<'a> {
    #[schema(value_type = BTreeMap<String, i64>)]
    usages: ByClass<'a>,
}

impl<'a> Usages<'a> {
    /// These units.
    pub fn new(image: &'a Image, usages: &'a Usage) -> Self {
        Self { usages: ByClass(image, usages) }
    }
}

/// Units that a project holds by consumer type and class, with the number of
/// consumers under `consumer_count` (from 1.38 on).
#[derive(Serialize, ToSchema)]
pub struct TypedUsages<'a> {
    #[schema(value_type = BTreeMap<String, BTreeMap<String, i64>>)]
    usages: ByType<'a>,
}

struct ByType<'a>(&'a Image, &'a BTreeMap<&'a str, Usage>);
struct OfType<'a>(&'a Image, &'a Usage);

impl<'a> TypedUsages<'a> {
    /// These units.
    pub fn new(image: &'a Image, usages: &'a BTreeMap<&'a str, Usage>) -> Self {
        Self { usages: ByType(image, usages) }
    }
}

impl Serialize for ByType<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.1.iter().map(|(name, usage)| (name, OfType(self.0, usage))))
    }
}

impl Serialize for OfType<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(image, usage) = self;
        let mut map = serializer.serialize_map(Some(usage.units.len() + 1))?;
        for (class, used) in &usage.units {
            map.serialize_entry(image.classes.name(*class), used)?;
        }
        map.serialize_entry("consumer_count", &usage.consumers)?;
        map.end()
    }
}

//! Resource classes, traits and aggregates.

use crate::version::{Feature, Version};
use serde::{Serialize, Serializer};
use stowplan_ledger::{
    Image,
    image::names::{Ix, Names},
};
use stowplan_model::Uuid;
use utoipa::ToSchema;

/// A resource class.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResourceClass)]
pub struct Class<'a> {
    name: &'a str,
    links: [ClassLink; 1],
}

/// Where a resource class is.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClassLink {
    rel: &'static str,
    href: String,
}

impl<'a> Class<'a> {
    /// A class; `base` is where the API is mounted.
    pub fn new(name: &'a str, base: &str) -> Self {
        let href = format!("{base}/resource_classes/{name}");
        Self { name, links: [ClassLink { rel: "self", href }] }
    }
}

/// All resource classes.
#[derive(Serialize, ToSchema)]
#[schema(as = ResourceClasses)]
pub struct Classes<'a> {
    #[schema(value_type = Vec<Class<'static>>)]
    resource_classes: ClassList<'a>,
}

struct ClassList<'a> {
    names: &'a Names,
    base: &'a str,
}

impl<'a> Classes<'a> {
    /// These classes.
    pub fn new(names: &'a Names, base: &'a str) -> Self {
        Self { resource_classes: ClassList { names, base } }
    }
}

impl Serialize for ClassList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names.iter().map(|row| Class::new(&row.name, self.base)))
    }
}

/// Names of traits.
#[derive(Debug, Serialize, ToSchema)]
pub struct Traits<'a> {
    /// The names.
    pub traits: Vec<&'a str>,
}

/// The traits of a provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderTraits<'a> {
    /// The names.
    traits: Vec<&'a str>,
    /// The provider's generation.
    resource_provider_generation: i64,
}

impl<'a> ProviderTraits<'a> {
    /// These traits.
    pub fn new(image: &'a Image, traits: &[Ix], generation: i64) -> Self {
        let traits = traits.iter().map(|&name| image.traits.name(name)).collect();
        Self { traits, resource_provider_generation: generation }
    }

    /// Traits by name.
    pub fn named(traits: &'a [String], generation: i64) -> Self {
        let traits = traits.iter().map(String::as_str).collect();
        Self { traits, resource_provider_generation: generation }
    }
}

/// The aggregates of a provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct Aggregates {
    /// Their uuids.
    aggregates: Vec<Uuid>,
    /// The provider's generation (from 1.19 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_provider_generation: Option<i64>,
}

impl Aggregates {
    /// These aggregates.
    pub fn new(aggregates: Vec<Uuid>, generation: i64, version: Version) -> Self {
        let shown = version.has(Feature::AggregatesGeneration);
        Self { aggregates, resource_provider_generation: shown.then_some(generation) }
    }
}

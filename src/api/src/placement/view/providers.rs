//! Resource providers.

use crate::version::{Feature, Version};
use serde::{Serialize, Serializer, ser::SerializeSeq};
use std::fmt;
use stowplan_ledger::{Image, image::providers::At, rows::ProviderRow};
use stowplan_model::Uuid;
use utoipa::ToSchema;

/// A resource provider.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResourceProvider)]
pub struct ProviderView<'a> {
    /// Its uuid.
    uuid: Uuid,
    /// Its name.
    name: &'a str,
    /// Its generation.
    generation: i64,
    /// Where its parts are.
    #[schema(value_type = Vec<Link<'static>>)]
    links: Links<'a>,
    /// The provider above it (from 1.14 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    parent_provider_uuid: Option<Option<Uuid>>,
    /// The root of its tree (from 1.14 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    root_provider_uuid: Option<Uuid>,
}

/// A link.
#[derive(Debug, Serialize, ToSchema)]
pub struct Link<'a> {
    /// What is there.
    rel: &'a str,
    /// Where.
    #[schema(value_type = String)]
    href: Path<'a>,
}

impl<'a> ProviderView<'a> {
    /// A provider as its row says; `base` is where the API is mounted.
    pub fn of_row(row: &'a ProviderRow, version: Version, base: &'a str) -> Self {
        let nested = version.has(Feature::NestedProviders);
        Self {
            uuid: row.uuid,
            name: &row.name,
            generation: row.generation,
            links: Links { base, uuid: row.uuid, version },
            parent_provider_uuid: nested.then_some(row.parent),
            root_provider_uuid: nested.then_some(row.root),
        }
    }

    /// A provider of the image.
    pub fn of_image(image: &'a Image, at: At, version: Version, base: &'a str) -> Option<Self> {
        let providers = &image.providers;
        let provider = providers.get(at)?;
        let nested = version.has(Feature::NestedProviders);
        let parent = provider.parent.map(|parent| providers.uuid(parent));
        Some(Self {
            uuid: provider.uuid,
            name: &provider.name,
            generation: providers.generation(at),
            links: Links { base, uuid: provider.uuid, version },
            parent_provider_uuid: nested.then_some(parent),
            root_provider_uuid: nested.then(|| providers.uuid(provider.root)),
        })
    }
}

/// A list of resource providers.
#[derive(Serialize, ToSchema)]
#[schema(as = ResourceProviders)]
pub struct Providers<'a> {
    #[schema(value_type = Vec<ProviderView<'static>>)]
    resource_providers: List<'a>,
}

impl<'a> Providers<'a> {
    /// These providers, in this order.
    pub fn new(image: &'a Image, places: &'a [At], version: Version, base: &'a str) -> Self {
        Self { resource_providers: List { image, places, version, base } }
    }
}

struct List<'a> {
    image: &'a Image,
    places: &'a [At],
    version: Version,
    base: &'a str,
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let views = self
            .places
            .iter()
            .filter_map(|&at| ProviderView::of_image(self.image, at, self.version, self.base));
        serializer.collect_seq(views)
    }
}

/// The links of a provider, by the microversion that knows them.
const PARTS: [(Feature, &str); 5] = [
    (Feature::Always, "inventories"),
    (Feature::Always, "usages"),
    (Feature::Aggregates, "aggregates"),
    (Feature::Traits, "traits"),
    (Feature::AllocationsLink, "allocations"),
];

#[derive(Debug)]
struct Links<'a> {
    base: &'a str,
    uuid: Uuid,
    version: Version,
}

impl Serialize for Links<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let path = |part| Path { base: self.base, uuid: self.uuid, part };
        list.serialize_element(&Link { rel: "self", href: path("") })?;
        for (_, part) in PARTS.iter().filter(|(since, _)| self.version.has(*since)) {
            list.serialize_element(&Link { rel: part, href: path(part) })?;
        }
        list.end()
    }
}

#[derive(Debug)]
struct Path<'a> {
    base: &'a str,
    uuid: Uuid,
    part: &'a str,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.part.is_empty() { "" } else { "/" };
        write!(f, "{}/resource_providers/{}{slash}{}", self.base, self.uuid, self.part)
    }
}

impl Serialize for Path<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

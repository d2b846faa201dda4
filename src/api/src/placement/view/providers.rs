//! Resource providers.

use crate::{
    json::{Text, Write},
    version::{Feature, Version},
};
use stowplan_ledger::{Image, image::providers::At, rows::ProviderRow};
use stowplan_model::Uuid;
use utoipa::ToSchema;

/// A resource provider.
#[derive(Debug, ToSchema)]
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
    #[schema(value_type = Option<Uuid>)]
    parent_provider_uuid: Option<Option<Uuid>>,
    /// The root of its tree (from 1.14 on).
    root_provider_uuid: Option<Uuid>,
}

/// A link.
#[derive(Debug, ToSchema)]
pub struct Link<'a> {
    /// What is there.
    rel: &'a str,
    /// Where.
    #[schema(value_type = String)]
    href: Path<'a>,
}

/// The path of a provider, and of one of its parts.
#[derive(Debug)]
struct Path<'a> {
    links: &'a Links<'a>,
    part: &'a str,
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
#[derive(ToSchema)]
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

impl Write for Providers<'_> {
    fn write(&self, text: &mut Text) {
        let List { image, places, version, base } = self.resource_providers;
        let views =
            places.iter().filter_map(|&at| ProviderView::of_image(image, at, version, base));
        text.raw("{\"resource_providers\":");
        text.list(views, |text, view| view.write(text));
        text.raw("}");
    }
}

impl Write for ProviderView<'_> {
    fn write(&self, text: &mut Text) {
        text.raw("{\"uuid\":");
        text.uuid(self.uuid);
        text.raw(",\"name\":");
        text.text(self.name);
        text.raw(",\"generation\":");
        text.number(self.generation);
        text.raw(",\"links\":");
        self.links.write(text);
        if let Some(parent) = self.parent_provider_uuid {
            text.raw(",\"parent_provider_uuid\":");
            text.uuid_or_null(parent);
        }
        if let Some(root) = self.root_provider_uuid {
            text.raw(",\"root_provider_uuid\":");
            text.uuid(root);
        }
        text.raw("}");
    }
}

/// The links of a provider, by the microversion that knows them, with what
/// they add to its own path.
const PARTS: [(Feature, &str, &str); 6] = [
    (Feature::Always, "self", ""),
    (Feature::Always, "inventories", "/inventories"),
    (Feature::Always, "usages", "/usages"),
    (Feature::Aggregates, "aggregates", "/aggregates"),
    (Feature::Traits, "traits", "/traits"),
    (Feature::AllocationsLink, "allocations", "/allocations"),
];

#[derive(Debug)]
struct Links<'a> {
    base: &'a str,
    uuid: Uuid,
    version: Version,
}

impl Links<'_> {
    fn iter(&self) -> impl Iterator<Item = Link<'_>> {
        let known = PARTS.iter().filter(|(since, ..)| self.version.has(*since));
        known.map(|&(_, rel, part)| Link { rel, href: Path { links: self, part } })
    }
}

impl Write for Links<'_> {
    fn write(&self, text: &mut Text) {
        text.list(self.iter(), |text, link| {
            text.raw("{\"rel\":");
            text.text(link.rel);
            text.raw(",\"href\":");
            link.href.write(text);
            text.raw("}");
        });
    }
}

impl Write for Path<'_> {
    fn write(&self, text: &mut Text) {
        text.raw("\"");
        text.inner(self.links.base);
        text.raw("/resource_providers/");
        text.inner_uuid(self.links.uuid);
        text.raw(self.part);
        text.raw("\"");
    }
}

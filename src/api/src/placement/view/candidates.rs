//! Allocation candidates.

use crate::{
    json::{Text, Write},
    version::{Feature, Version},
};
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};
use stowplan_model::Uuid;
use stowplan_placement::candidates::{Candidate, CandidateQuery, Share};
use utoipa::ToSchema;

/// The ways to meet a request, and the providers that they are about.
#[derive(ToSchema)]
#[schema(as = AllocationCandidates)]
pub struct Candidates<'a> {
    /// Each fit for the body of `PUT /allocations/{consumer_uuid}`.
    #[schema(value_type = Vec<Request<'static>>)]
    allocation_requests: Requests<'a>,
    /// By provider.
    #[schema(value_type = BTreeMap<Uuid, Summary<'static>>)]
    provider_summaries: Summaries<'a>,
}

impl<'a> Candidates<'a> {
    /// What was found for a query.
    pub fn new(
        image: &'a Image,
        query: &'a CandidateQuery,
        found: &'a [Candidate],
        providers: &'a [At],
        version: Version,
    ) -> Self {
        let asked = query.groups.iter().flat_map(|group| &group.resources);
        let asked = asked.filter_map(|(class, _)| image.classes.ix(class));
        let all = version.has(Feature::AllSummaryClasses);
        Self {
            allocation_requests: Requests { image, query, found, version },
            provider_summaries: Summaries {
                image,
                providers,
                version,
                classes: (!all).then(|| asked.collect()),
            },
        }
    }
}

struct Requests<'a> {
    image: &'a Image,
    query: &'a CandidateQuery,
    found: &'a [Candidate],
    version: Version,
}

impl Write for Candidates<'_> {
    fn write(&self, text: &mut Text) {
        text.raw("{\"allocation_requests\":");
        self.allocation_requests.write(text);
        text.raw(",\"provider_summaries\":");
        self.provider_summaries.write(text);
        text.raw("}");
    }
}

impl Write for Requests<'_> {
    fn write(&self, text: &mut Text) {
        let Self { image, query, version, .. } = *self;
        let keyed = version.has(Feature::AllocationsByProvider);
        let mapped = version.has(Feature::Mappings);
        let requests = self.found.iter().map(|candidate| Request {
            allocations: Allocations { image, shares: &candidate.allocations, keyed },
            mappings: mapped.then_some(Mappings { image, query, candidate }),
        });
        text.list(requests, |text, request| request.write(text));
    }
}

/// One way to meet the request.
#[derive(ToSchema)]
#[schema(as = AllocationRequest)]
pub struct Request<'a> {
    /// By provider (before 1.12: a list).
    #[schema(value_type = BTreeMap<Uuid, Taken<'static>>)]
    allocations: Allocations<'a>,
    /// The providers that meet each request group, by suffix (from 1.34 on).
    #[schema(value_type = Option<BTreeMap<String, Vec<Uuid>>>)]
    mappings: Option<Mappings<'a>>,
}

impl Write for Request<'_> {
    fn write(&self, text: &mut Text) {
        text.raw("{\"allocations\":");
        self.allocations.write(text);
        if let Some(mappings) = &self.mappings {
            text.raw(",\"mappings\":");
            mappings.write(text);
        }
        text.raw("}");
    }
}

struct Allocations<'a> {
    image: &'a Image,
    shares: &'a [Share],
    keyed: bool,
}

impl Write for Allocations<'_> {
    fn write(&self, text: &mut Text) {
        let image = self.image;
        // Those of one provider stand together.
        let parts = self.shares.chunk_by(|one, other| one.provider == other.provider);
        let parts = parts.map(|shares| {
            let uuid = shares.first().map_or(Uuid::nil(), |s| image.providers.uuid(s.provider));
            (uuid, Taken { resources: Resources { image, shares } })
        });
        if self.keyed {
            text.object(parts, |text, (uuid, taken)| {
                text.uuid(uuid);
                text.raw(":{");
                taken.write_member(text);
                text.raw("}");
            });
        } else {
            text.list(parts, |text, (uuid, taken)| {
                text.raw("{\"resource_provider\":{\"uuid\":");
                text.uuid(uuid);
                text.raw("},");
                taken.write_member(text);
                text.raw("}");
            });
        }
    }
}

/// What is taken of one provider.
#[derive(ToSchema)]
pub struct Taken<'a> {
    /// Units by class.
    #[schema(value_type = BTreeMap<String, i64>)]
    resources: Resources<'a>,
}

impl Taken<'_> {
    /// Writes its member alone: before 1.12 another stands beside it.
    fn write_member(&self, text: &mut Text) {
        text.raw("\"resources\":");
        self.resources.write(text);
    }
}

struct Resources<'a> {
    image: &'a Image,
    shares: &'a [Share],
}

impl Write for Resources<'_> {
    fn write(&self, text: &mut Text) {
        text.object(self.shares.iter(), |text, share| {
            text.text(self.image.classes.name(share.class));
            text.raw(":");
            text.number(share.amount);
        });
    }
}

struct Mappings<'a> {
    image: &'a Image,
    query: &'a CandidateQuery,
    candidate: &'a Candidate,
}

impl Write for Mappings<'_> {
    fn write(&self, text: &mut Text) {
        let groups = self.query.groups.iter().zip(&self.candidate.mappings);
        text.object(groups, |text, (group, places)| {
            text.text(&group.suffix);
            text.raw(":");
            text.list(places.iter(), |text, at| text.uuid(self.image.providers.uuid(*at)));
        });
    }
}

struct Summaries<'a> {
    image: &'a Image,
    providers: &'a [At],
    version: Version,
    /// The classes that are shown; none: all.
    classes: Option<Vec<Ix>>,
}

impl Write for Summaries<'_> {
    fn write(&self, text: &mut Text) {
        let Self { image, version, .. } = *self;
        let shown = self.classes.as_deref();
        let nested = version.has(Feature::NestedCandidates);
        let summaries = self.providers.iter().filter_map(|&at| {
            let provider = image.providers.get(at)?;
            let parent = provider.parent.map(|parent| image.providers.uuid(parent));
            let traits = Traits { image, traits: &provider.traits };
            let summary = Summary {
                resources: Stocks { image, at, classes: &provider.classes, shown },
                traits: version.has(Feature::CandidatesTraits).then_some(traits),
                parent_provider_uuid: nested.then_some(parent),
                root_provider_uuid: nested.then(|| image.providers.uuid(provider.root)),
            };
            Some((provider.uuid, summary))
        });
        text.object(summaries, |text, (uuid, summary)| {
            text.uuid(uuid);
            text.raw(":");
            summary.write(text);
        });
    }
}

/// A provider that candidates are about.
#[derive(ToSchema)]
#[schema(as = ProviderSummary)]
pub struct Summary<'a> {
    /// What there is, by class.
    #[schema(value_type = BTreeMap<String, Stock>)]
    resources: Stocks<'a>,
    /// Its traits (from 1.17 on).
    #[schema(value_type = Option<Vec<String>>)]
    traits: Option<Traits<'a>>,
    /// The provider above it (from 1.29 on).
    #[schema(value_type = Option<Uuid>)]
    parent_provider_uuid: Option<Option<Uuid>>,
    /// The root of its tree (from 1.29 on).
    root_provider_uuid: Option<Uuid>,
}

impl Write for Summary<'_> {
    fn write(&self, text: &mut Text) {
        text.raw("{\"resources\":");
        self.resources.write(text);
        if let Some(traits) = &self.traits {
            text.raw(",\"traits\":");
            traits.write(text);
        }
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

/// What a provider has of one class.
#[derive(ToSchema)]
pub struct Stock {
    /// What may be allocated in all.
    capacity: i64,
    /// What is in use.
    used: i64,
}

impl Write for Stock {
    fn write(&self, text: &mut Text) {
        text.raw("{\"capacity\":");
        text.number(self.capacity);
        text.raw(",\"used\":");
        text.number(self.used);
        text.raw("}");
    }
}

struct Stocks<'a> {
    image: &'a Image,
    at: At,
    classes: &'a [Ix],
    shown: Option<&'a [Ix]>,
}

impl Write for Stocks<'_> {
    fn write(&self, text: &mut Text) {
        let Self { image, at, classes, shown } = *self;
        let shown = classes.iter().filter(|class| shown.is_none_or(|shown| shown.contains(class)));
        let stocks = shown.filter_map(|&class| {
            let capacity = image.providers.capacity(at, class)?;
            Some((class, Stock { capacity, used: image.providers.used(at, class) }))
        });
        text.object(stocks, |text, (class, stock)| {
            text.text(image.classes.name(class));
            text.raw(":");
            stock.write(text);
        });
    }
}

struct Traits<'a> {
    image: &'a Image,
    traits: &'a [Ix],
}

impl Write for Traits<'_> {
    fn write(&self, text: &mut Text) {
        text.list(self.traits.iter(), |text, name| text.text(self.image.traits.name(*name)));
    }
}

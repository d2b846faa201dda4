//! Allocation candidates.

use crate::version::{Feature, Version};
use serde::{Serialize, Serializer};
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};
use stowplan_model::Uuid;
use stowplan_placement::candidates::{Candidate, CandidateQuery, Share};
use utoipa::ToSchema;

/// The ways to meet a request, and the providers that they are about.
#[derive(Serialize, ToSchema)]
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

impl Serialize for Requests<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keyed = self.version.has(Feature::AllocationsByProvider);
        let mapped = self.version.has(Feature::Mappings);
        serializer.collect_seq(self.found.iter().map(|candidate| Request {
            allocations: Allocations { image: self.image, shares: &candidate.allocations, keyed },
            mappings: mapped.then_some(Mappings {
                image: self.image,
                query: self.query,
                candidate,
            }),
        }))
    }
}

/// One way to meet the request.
#[derive(Serialize, ToSchema)]
#[schema(as = AllocationRequest)]
pub struct Request<'a> {
    /// By provider (before 1.12: a list).
    #[schema(value_type = BTreeMap<Uuid, Taken<'static>>)]
    allocations: Allocations<'a>,
    /// The providers that meet each request group, by suffix (from 1.34 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BTreeMap<String, Vec<Uuid>>>)]
    mappings: Option<Mappings<'a>>,
}

struct Allocations<'a> {
    image: &'a Image,
    shares: &'a [Share],
    keyed: bool,
}

impl Serialize for Allocations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let image = self.image;
        // Those of one provider stand together.
        let parts = self.shares.chunk_by(|one, other| one.provider == other.provider);
        let parts = parts.map(|shares| {
            let uuid = shares.first().map_or(Uuid::nil(), |s| image.providers.uuid(s.provider));
            (uuid, Resources { image, shares })
        });
        if self.keyed {
            serializer.collect_map(parts.map(|(uuid, resources)| (uuid, Taken { resources })))
        } else {
            serializer.collect_seq(
                parts.map(|(uuid, resources)| Listed {
                    resource_provider: Named { uuid },
                    resources,
                }),
            )
        }
    }
}

/// What is taken of one provider.
#[derive(Serialize, ToSchema)]
pub struct Taken<'a> {
    /// Units by class.
    #[schema(value_type = BTreeMap<String, i64>)]
    resources: Resources<'a>,
}

#[derive(Serialize)]
struct Listed<'a> {
    resource_provider: Named,
    resources: Resources<'a>,
}

#[derive(Serialize)]
struct Named {
    uuid: Uuid,
}

struct Resources<'a> {
    image: &'a Image,
    shares: &'a [Share],
}

impl Serialize for Resources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let classes = &self.image.classes;
        serializer.collect_map(self.shares.iter().map(|s| (classes.name(s.class), s.amount)))
    }
}

struct Mappings<'a> {
    image: &'a Image,
    query: &'a CandidateQuery,
    candidate: &'a Candidate,
}

impl Serialize for Mappings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let groups = self.query.groups.iter().zip(&self.candidate.mappings);
        serializer.collect_map(
            groups.map(|(group, places)| (&group.suffix, Uuids { image: self.image, places })),
        )
    }
}

struct Uuids<'a> {
    image: &'a Image,
    places: &'a [At],
}

impl Serialize for Uuids<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.places.iter().map(|&at| self.image.providers.uuid(at)))
    }
}

struct Summaries<'a> {
    image: &'a Image,
    providers: &'a [At],
    version: Version,
    /// The classes that are shown; none: all.
    classes: Option<Vec<Ix>>,
}

impl Serialize for Summaries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { image, version, .. } = self;
        let shown = self.classes.as_deref();
        serializer.collect_map(self.providers.iter().filter_map(|&at| {
            let provider = image.providers.get(at)?;
            let nested = version.has(Feature::NestedCandidates);
            let parent = provider.parent.map(|parent| image.providers.uuid(parent));
            let traits = Traits { image, traits: &provider.traits };
            let summary = Summary {
                resources: Stocks { image, at, classes: &provider.classes, shown },
                traits: version.has(Feature::CandidatesTraits).then_some(traits),
                parent_provider_uuid: nested.then_some(parent),
                root_provider_uuid: nested.then(|| image.providers.uuid(provider.root)),
            };
            Some((provider.uuid, summary))
        }))
    }
}

/// A provider that candidates are about.
#[derive(Serialize, ToSchema)]
#[schema(as = ProviderSummary)]
pub struct Summary<'a> {
    /// What there is, by class.
    #[schema(value_type = BTreeMap<String, Stock>)]
    resources: Stocks<'a>,
    /// Its traits (from 1.17 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    traits: Option<Traits<'a>>,
    /// The provider above it (from 1.29 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    parent_provider_uuid: Option<Option<Uuid>>,
    /// The root of its tree (from 1.29 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    root_provider_uuid: Option<Uuid>,
}

/// What a provider has of one class.
#[derive(Serialize, ToSchema)]
pub struct Stock {
    /// What may be allocated in all.
    capacity: i64,
    /// What is in use.
    used: i64,
}

struct Stocks<'a> {
    image: &'a Image,
    at: At,
    classes: &'a [Ix],
    shown: Option<&'a [Ix]>,
}

impl Serialize for Stocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { image, at, classes, shown } = self;
        let shown = classes.iter().filter(|class| shown.is_none_or(|shown| shown.contains(class)));
        serializer.collect_map(shown.filter_map(|&class| {
            let capacity = image.providers.capacity(*at, class)?;
            let stock = Stock { capacity, used: image.providers.used(*at, class) };
            Some((image.classes.name(class), stock))
        }))
    }
}

struct Traits<'a> {
    image: &'a Image,
    traits: &'a [Ix],
}

impl Serialize for Traits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.traits.iter().map(|&name| self.image.traits.name(name)))
    }
}

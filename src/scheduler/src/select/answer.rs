//! What a request is answered with.

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use stowplan_engine::offers::Mappings;
use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_placement::candidates::{Candidate, CandidateQuery};

use super::hint::HintAnswer;

/// The destinations of all servers of a request.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Destinations {
    /// The decision that explains them; null when none is recorded.
    pub decision_id: Option<Uuid>,
    /// Nothing was claimed.
    pub dry_run: bool,
    /// Seed of the random numbers.
    pub seed: u64,
    /// How often it was decided: more than once when a claim lost a race.
    pub attempts: u32,
    /// What of the request was passed over, and what in host aggregates.
    pub warnings: Vec<String>,
    /// One destination for each server, in their order.
    pub selections: Vec<Selection>,
}

/// Where one server goes.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Selection {
    /// The server.
    pub instance_uuid: Uuid,
    /// Where it goes.
    #[serde(flatten)]
    pub destination: Destination,
    /// What became of the request's hint; null when it has none.
    pub hint: Option<HintAnswer>,
    /// Other hosts, in order, in case this one fails it.
    pub alternates: Vec<Destination>,
}

/// A host with what a server takes from it.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
#[schema(as = SelectedHost)]
pub struct Destination {
    /// The host.
    pub host: String,
    /// The node.
    pub node: String,
    /// Uuid of the compute node, which is its root provider's.
    pub compute_node_uuid: Uuid,
    /// Cell; null outside Nova.
    pub cell_uuid: Option<Uuid>,
    /// Availability zone.
    pub availability_zone: String,
    /// What is claimed, in Placement's form of microversion 1.36.
    #[schema(value_type = Object, example = json!({
        "allocations": {"4e8e5957-649f-477b-9e5b-f1f75b21c03c": {"resources": {"VCPU": 4}}},
        "mappings": {"": ["4e8e5957-649f-477b-9e5b-f1f75b21c03c"]},
    }))]
    pub allocation_request: AllocationRequest,
}

/// Amounts by provider and class, and which providers meet which group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationRequest {
    /// Providers with classes and units.
    pub allocations: Vec<(Uuid, Vec<(String, i64)>)>,
    /// Suffixes of groups with their providers.
    pub mappings: Vec<(String, Vec<Uuid>)>,
}

impl AllocationRequest {
    /// Suffixes of groups with their providers, as filters look at them.
    pub(super) fn groups(&self) -> Mappings {
        self.mappings.iter().cloned().collect()
    }

    /// Whether all of it is still free in an image.
    pub(super) fn fits(&self, image: &Image) -> bool {
        let providers = &image.providers;
        let is_free = |provider: Uuid, class: &str, amount: i64| {
            let (at, class) = (providers.find(provider)?, image.classes.ix(class)?);
            Some(
                providers.used(at, class).saturating_add(amount)
                    <= providers.capacity(at, class)?,
            )
        };
        self.allocations.iter().all(|(provider, amounts)| {
            amounts.iter().all(|(class, amount)| is_free(*provider, class, *amount) == Some(true))
        })
    }

    /// A candidate with everything named, so that it outlives its image.
    pub(super) fn of(image: &Image, query: &CandidateQuery, candidate: &Candidate) -> Self {
        let mut allocations: Vec<(Uuid, Vec<(String, i64)>)> = Vec::with_capacity(1);
        for share in &candidate.allocations {
            let provider = image.providers.uuid(share.provider);
            let class = image.classes.name(share.class).to_owned();
            match allocations.iter_mut().find(|(uuid, _)| *uuid == provider) {
                Some((_, amounts)) => amounts.push((class, share.amount)),
                None => allocations.push((provider, vec![(class, share.amount)])),
            }
        }
        let groups = query.groups.iter().zip(&candidate.mappings);
        let mappings = groups.map(|(group, places)| {
            let uuids = places.iter().map(|at| image.providers.uuid(*at)).collect();
            (group.suffix.clone(), uuids)
        });
        Self { allocations, mappings: mappings.collect() }
    }
}

impl Serialize for AllocationRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_struct("AllocationRequest", 2)?;
        whole.serialize_field("allocations", &Allocations(&self.allocations))?;
        whole.serialize_field("mappings", &Pairs(&self.mappings))?;
        whole.end()
    }
}

/// Pairs written as one object.
struct Pairs<'a, K, V>(&'a [(K, V)]);

impl<K: Serialize, V: Serialize> Serialize for Pairs<'_, K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

struct Allocations<'a>(&'a [(Uuid, Vec<(String, i64)>)]);

impl Serialize for Allocations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (provider, amounts) in self.0 {
            map.serialize_entry(provider, &Resources(amounts))?;
        }
        map.end()
    }
}

struct Resources<'a>(&'a [(String, i64)]);

impl Serialize for Resources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_struct("Resources", 1)?;
        whole.serialize_field("resources", &Pairs(self.0))?;
        whole.end()
    }
}

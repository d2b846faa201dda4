//! The body of `POST /v1/select_destinations`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use stowplan_model::Uuid;
use stowplan_model::flavor::Flavor;
use stowplan_model::image_props::ImageMeta;
use stowplan_model::request::{Destination, InstanceGroup, NetworkMetadata};
use stowplan_model::request_devices::{PciRequest, RequestNuma};

use super::hint::SchedulingHint;
use super::networks::RequestedNetwork;
use crate::body::Strict;
use crate::error::SchedulerError;

/// A request for destinations of one server or several alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct SelectRequest {
    /// What each server needs; must be given.
    pub flavor: Option<Flavor>,
    /// What it is made from; nothing means an image without properties.
    pub image: Option<ImageMeta>,
    /// How many servers; nothing means as many as `instance_uuids`, or one.
    pub count: Option<i64>,
    /// Uuids of the servers, which are their consumers' too; made up if none
    /// are given.
    pub instance_uuids: Option<Vec<Uuid>>,
    /// Project that owns them; null means the caller's.
    pub project_id: Option<String>,
    /// User who asks; null means the caller.
    pub user_id: Option<String>,
    /// Availability zone.
    pub availability_zone: Option<String>,
    /// They boot from volumes: their root disks take no room on hosts.
    pub is_bfv: bool,
    /// Hints by name, each a text or a list of texts.
    pub scheduler_hints: Hints,
    /// Hosts that they must or would rather have.
    pub hint: Option<SchedulingHint>,
    /// Annotations of the servers; a scheduling hint as JSON text is read from
    /// `internal.scheduling.koordinator.sh/scheduling-hint`, or from
    /// `scheduling.koordinator.sh/scheduling-hint`, which is deprecated. Others
    /// are let pass.
    pub annotations: BTreeMap<String, String>,
    /// The server group that they join: its uuid, or a group in full.
    pub group: Option<GroupRef>,
    /// Hosts to leave out, in any letter case.
    pub ignore_hosts: Vec<String>,
    /// Hosts to choose from, in any letter case; filters are then skipped.
    pub force_hosts: Vec<String>,
    /// Nodes to choose from; filters are then skipped.
    pub force_nodes: Vec<String>,
    /// Where they must go.
    pub requested_destination: Option<Destination>,
    /// Further request groups, such as those of network ports.
    pub requested_resources: Vec<RequestedGroup>,
    /// PCI devices that each server needs.
    pub pci_requests: Vec<PciRequest>,
    /// NUMA topology that each server needs.
    pub numa_topology: Option<RequestNuma>,
    /// Networks and ports that each server attaches to.
    pub requested_networks: Vec<RequestedNetwork>,
    /// Networks that each server attaches to, for the affinity of its NUMA cells.
    pub network_metadata: Option<NetworkMetadata>,
    /// Sets of `requester_id` whose providers must stand under one of them.
    pub same_subtree: Vec<Vec<String>>,
    /// Traits that the root provider of a host must have.
    pub root_required: Vec<String>,
    /// Traits that the root provider of a host must not have.
    pub root_forbidden: Vec<String>,
    /// Other hosts to name for each server, in case the chosen one fails it.
    pub alternates: i64,
    /// Decides and explains, and claims nothing.
    pub dry_run: bool,
    /// Consumers whose allocations count as released, such as a server that is to
    /// be moved; with `dry_run` only.
    pub as_if_released: Vec<Uuid>,
    /// Seed of the random numbers, to decide the same way again.
    pub seed: Option<u64>,
}

/// Reads the body of a request.
///
/// # Errors
/// Every field that is unknown or whose value is not of its kind.
pub fn read_request(body: &[u8]) -> Result<SelectRequest, SchedulerError> {
    Ok(crate::body::read(body)?)
}

/// A request group that does not come from the flavor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RequestedGroup {
    /// Who asks, such as a port's uuid: the suffix of the group.
    pub requester_id: String,
    /// Units by resource class.
    pub resources: BTreeMap<String, i64>,
    /// Traits that its provider must have.
    pub required_traits: Vec<String>,
    /// Traits that its provider must not have.
    pub forbidden_traits: Vec<String>,
    /// Placement aggregates: its provider must be in one of each set.
    pub aggregates: Vec<Vec<Uuid>>,
    /// Placement aggregates that its provider must not be in.
    pub forbidden_aggregates: Vec<Uuid>,
    /// A provider (any) in whose tree its provider must be.
    pub in_tree: Option<Uuid>,
}

/// A server group in a request.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum GroupRef {
    /// A group of the ledger.
    Known(Uuid),
    /// A group in full, as a conductor sends it.
    Inline(Box<InstanceGroup>),
}

impl<'de> Deserialize<'de> for GroupRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GroupVisitor;

        impl<'de> Visitor<'de> for GroupVisitor {
            type Value = GroupRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the uuid of a server group, or an object with policy and members")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<GroupRef, E> {
                let uuid = Uuid::parse_str(text);
                uuid.map(GroupRef::Known)
                    .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GroupRef, A::Error> {
                InstanceGroup::deserialize(Strict(MapAccessDeserializer::new(map)))
                    .map(|group| GroupRef::Inline(Box::new(group)))
            }
        }

        deserializer.deserialize_any(GroupVisitor)
    }
}

/// Hints by name; a single value is a list of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = BTreeMap<String, Vec<String>>)]
pub struct Hints(pub BTreeMap<String, Vec<String>>);

impl<'de> Deserialize<'de> for Hints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hints = BTreeMap::<String, Option<Hint>>::deserialize(deserializer)?;
        let lists =
            hints.into_iter().map(|(name, hint)| (name, hint.map_or_else(Vec::new, |h| h.0)));
        Ok(Self(lists.collect()))
    }
}

/// The values of one hint.
struct Hint(Vec<String>);

impl<'de> Deserialize<'de> for Hint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HintVisitor;

        impl<'de> Visitor<'de> for HintVisitor {
            type Value = Hint;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Hint, E> {
                Ok(Hint(vec![text.to_owned()]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Hint, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Hint(values))
            }
        }

        deserializer.deserialize_any(HintVisitor)
    }
}

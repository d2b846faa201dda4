//! What is to be placed: the request for destinations.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::flavor::Flavor;
use crate::image_props::ImageMeta;
use crate::request_devices::{PciRequest, RequestNuma};

/// One request for destinations, as the conductor states it.
///
/// Names follow Nova's request specification; a missing key is null or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScheduleRequest {
    /// The server, or the first of several.
    pub instance_uuid: Uuid,
    /// Project that owns it.
    pub project_id: Option<String>,
    /// User who asked.
    pub user_id: Option<String>,
    /// Availability zone asked for.
    pub availability_zone: Option<String>,
    /// Boots from a volume: its root disk takes no room on the host.
    pub is_bfv: bool,
    /// What it needs.
    pub flavor: Flavor,
    /// What it is made from; null for a request without any image object.
    pub image: Option<ImageMeta>,
    /// Hints by name; a hint given as a single value is a list of one.
    #[serde(deserialize_with = "hints")]
    pub scheduler_hints: BTreeMap<String, Vec<String>>,
    /// Hosts to leave out, in any letter case.
    pub ignore_hosts: Option<Vec<String>>,
    /// Hosts to choose from, in any letter case; filters are then skipped.
    pub force_hosts: Option<Vec<String>>,
    /// Nodes to choose from; filters are then skipped.
    pub force_nodes: Option<Vec<String>>,
    /// Where it must go.
    pub requested_destination: Option<Destination>,
    /// The server group it belongs to.
    pub instance_group: Option<InstanceGroup>,
    /// PCI devices it needs.
    pub pci_requests: Option<Vec<PciRequest>>,
    /// NUMA topology it needs.
    pub numa_topology: Option<RequestNuma>,
    /// Networks it attaches to.
    pub network_metadata: Option<NetworkMetadata>,
}

impl ScheduleRequest {
    /// The values of a hint; empty when it was not given.
    #[must_use]
    pub fn hint(&self, name: &str) -> &[String] {
        self.scheduler_hints.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether this is a rebuild: only filters that say so run then.
    #[must_use]
    pub fn is_rebuild(&self) -> bool {
        self.hint(CHECK_TYPE) == ["rebuild"]
    }

    /// Whether the conductor only checks hosts (a rebuild, an evacuation).
    #[must_use]
    pub fn is_check(&self) -> bool {
        self.scheduler_hints.contains_key(CHECK_TYPE)
    }
}

/// The hint by which a conductor says that it checks rather than places.
const CHECK_TYPE: &str = "_nova_check_type";

/// Where a server must go, or which cell it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct Destination {
    /// Host, in exact letter case.
    pub host: Option<String>,
    /// Node, in exact letter case.
    pub node: Option<String>,
    /// Cell it is in.
    pub cell: Option<Uuid>,
    /// May leave that cell.
    pub allow_cross_cell_move: bool,
    /// Placement aggregates: of each item (a comma list) one must hold.
    pub aggregates: Option<Vec<String>>,
    /// Placement aggregates to stay out of.
    pub forbidden_aggregates: Option<Vec<String>>,
}

/// A server group with its members and their hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct InstanceGroup {
    /// Uuid of the group; null in offline requests.
    pub uuid: Option<Uuid>,
    /// `affinity`, `anti-affinity`, `soft-affinity` or `soft-anti-affinity`.
    pub policy: Option<String>,
    /// The older field that the affinity filter reads; null means the policy.
    pub policies: Option<Vec<String>>,
    /// Servers of the group.
    pub members: Vec<Uuid>,
    /// Hosts that its members are on, duplicates kept.
    pub hosts: Vec<String>,
    /// Rules of the policy.
    pub rules: Option<GroupRules>,
}

impl InstanceGroup {
    /// Whether the list of policies (or the policy, where there is none) has
    /// this one.
    #[must_use]
    pub fn has_policy(&self, policy: &str) -> bool {
        match &self.policies {
            Some(policies) => policies.iter().any(|p| p == policy),
            None => self.policy.as_deref() == Some(policy),
        }
    }
}

/// Rules of a server group's policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct GroupRules {
    /// Members on one host at most, at least 1; null means 1. A number as text
    /// is accepted.
    #[serde(deserialize_with = "count")]
    pub max_server_per_host: Option<i64>,
}

/// Networks that a server attaches to, or that hang on a NUMA cell of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct NetworkMetadata {
    /// Physical networks.
    pub physnets: Vec<String>,
    /// Whether any network is tunnelled.
    pub tunneled: bool,
}

/// A value or a list of values.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

fn hints<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Vec<String>>, D::Error> {
    let hints = BTreeMap::<String, Option<OneOrMany<String>>>::deserialize(deserializer)?;
    let lists = hints.into_iter().map(|(name, value)| {
        let list = match value {
            None => Vec::new(),
            Some(OneOrMany::Many(list)) => list,
            Some(OneOrMany::One(value)) => vec![value],
        };
        (name, list)
    });
    Ok(lists.collect())
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Count {
        Number(i64),
        Text(String),
    }
    match Option::<Count>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Count::Number(number)) => Ok(Some(number)),
        Some(Count::Text(text)) => crate::pytext::int(&text).map(Some).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "max_server_per_host is \"{text}\": expected a whole number"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn hints_are_lists_and_rules_take_text() {
        let request: ScheduleRequest = serde_json::from_str(
            r#"{"scheduler_hints": {"same_host": "a", "_nova_check_type": ["rebuild"]},
                "instance_group": {"policy": "affinity", "rules": {"max_server_per_host": "2"}}}"#,
        )
        .unwrap();
        assert_eq!(request.hint("same_host"), ["a"]);
        assert!(request.is_rebuild());
        let group = request.instance_group.unwrap();
        assert!(group.has_policy("affinity"));
        assert_eq!(group.rules.unwrap().max_server_per_host, Some(2));
    }

    #[test]
    fn policies_win_over_the_policy() {
        let group = InstanceGroup {
            policy: Some("affinity".to_owned()),
            policies: Some(vec![]),
            ..InstanceGroup::default()
        };
        assert!(!group.has_policy("affinity"));
    }
}

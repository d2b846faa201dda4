//! Topology domains and sub-groups as a scenario writes them.

use super::cluster::JobInput;
use crate::session::{DomainInput, GroupIx, GroupPolicy, Job, SubGroup, Tier, Topology};
use serde::Deserialize;
use std::collections::BTreeMap;
use stowplan_engine::HostIx;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HyperNodeInput {
    name: String,
    tier: i64,
    #[serde(default)]
    tier_name: Option<String>,
    /// All nodes below it.
    #[serde(default)]
    nodes: Vec<String>,
    #[serde(default)]
    members: Vec<MemberInput>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberInput {
    #[serde(rename = "type")]
    kind: MemberKind,
    #[serde(rename = "match")]
    _match: MemberMatch,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MemberKind {
    Node,
    HyperNode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MemberMatch {
    Exact,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TopologyInput {
    mode: Mode,
    #[serde(default)]
    highest_tier_allowed: Option<i64>,
    #[serde(default)]
    highest_tier_name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Hard,
    Soft,
    /// It asks for nothing.
    #[serde(rename = "")]
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SubGroupInput {
    name: String,
    #[serde(default)]
    sub_group_size: Option<u32>,
    #[serde(default)]
    min_sub_groups: u32,
    #[serde(default)]
    match_label_keys: Vec<String>,
    #[serde(default)]
    network_topology: Option<TopologyInput>,
}

impl HyperNodeInput {
    pub(super) fn domain(&self, host: impl Fn(&str) -> Option<HostIx>) -> DomainInput {
        let of_kind = |kind| {
            let members = self.members.iter().filter(move |member| member.kind == kind);
            members.map(|member| member.name.as_str())
        };
        let names = self.nodes.iter().map(String::as_str).chain(of_kind(MemberKind::Node));
        DomainInput {
            name: self.name.clone(),
            tier: self.tier,
            tier_name: self.tier_name.clone(),
            hosts: names.filter_map(host).collect(),
            members: of_kind(MemberKind::HyperNode).map(str::to_owned).collect(),
        }
    }
}

impl TopologyInput {
    fn topology(&self) -> Option<Topology> {
        match self.mode {
            Mode::None => None,
            Mode::Soft => Some(Topology::Soft),
            Mode::Hard => match (self.highest_tier_allowed, &self.highest_tier_name) {
                (Some(tier), _) => Some(Topology::Hard(Tier::Number(tier))),
                (None, Some(name)) => Some(Topology::Hard(Tier::Name(name.clone()))),
                (None, None) => None,
            },
        }
    }
}

impl JobInput {
    /// Gives a job its topology and sub-groups.
    pub(super) fn divide(&self, job: &mut Job) {
        let policy = |input: &SubGroupInput| GroupPolicy {
            name: input.name.clone(),
            min_groups: input.min_sub_groups,
        };
        let topology = self.network_topology.as_ref().and_then(TopologyInput::topology);
        job.divide(topology, self.sub_group_policy.iter().map(policy).collect());
    }

    /// The sub-group of a task with these labels: that of the first policy all
    /// of whose keys it has, together with those of the same values.
    pub(super) fn group(&self, job: &mut Job, labels: &BTreeMap<String, String>) -> GroupIx {
        for (number, policy) in self.sub_group_policy.iter().enumerate() {
            let value = |key: &String| labels.get(key).filter(|value| !value.is_empty());
            let values: Option<Vec<&str>> =
                policy.match_label_keys.iter().map(|key| value(key).map(String::as_str)).collect();
            let Some(values) = values.filter(|values| !values.is_empty()) else { continue };
            let name = format!("{}-{}", policy.name, values.join("-"));
            let topology = policy.network_topology.as_ref().and_then(TopologyInput::topology);
            let order = values[0].parse().unwrap_or(0);
            let min = policy.sub_group_size.unwrap_or(1);
            let new = SubGroup { order, topology, ..SubGroup::new(&name, Some(number), min) };
            return job.group_named(number, &name, new);
        }
        GroupIx(0)
    }
}

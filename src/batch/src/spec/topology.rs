//! How near to each other tasks of a job have to be, and in which sub-groups.

use super::names::check_name;
use super::{RoleSpec, stored::JobSpec};
use crate::session::{GroupIx, GroupPolicy, Job, SubGroup, Tier, Topology};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_scheduler::fields::FieldErrors;
use utoipa::ToSchema;

/// The highest tier that can be named.
const MAX_TIER: i64 = 1000;
/// The most sub-groups of one job.
const MAX_POLICIES: usize = 100;

/// Whether tasks wait rather than being far from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopologyMode {
    /// All are in one domain of at most the highest tier, or wait.
    #[default]
    Hard,
    /// They are in as narrow a domain as possible.
    Soft,
}

/// How near to each other tasks have to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkTopology {
    /// Whether they wait rather than being far from each other; without a word,
    /// `hard`.
    pub mode: TopologyMode,
    /// The highest tier of a domain that all of them are in, where the mode is
    /// `hard`; with neither this nor a name, 1.
    #[schema(minimum = 0, maximum = 1000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_tier: Option<i64>,
    /// The same by the tier's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_tier_name: Option<String>,
}

/// Sub-groups of one kind: tasks that are placed together or not at all, near
/// to each other.
///
/// A task is in a sub-group of the first of these that takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubGroups {
    /// Their name, unique in the job.
    pub name: String,
    /// The roles whose tasks they take; none named: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Labels that a task must have. Tasks of the same values are a sub-group.
    /// Without any, tasks of each role are divided in the order of their
    /// numbers, `size` by `size`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_label_keys: Vec<String>,
    /// How many tasks of a sub-group must have a place for any to be placed;
    /// without a number, 1.
    #[schema(minimum = 1)]
    pub size: Option<i64>,
    /// How many sub-groups must have a place for any task of the job to be
    /// placed; without a number, 0.
    #[schema(minimum = 0)]
    pub min_groups: Option<i64>,
    /// How near to each other the tasks of a sub-group have to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_topology: Option<NetworkTopology>,
}

impl NetworkTopology {
    fn topology(&self) -> Topology {
        match (self.mode, self.highest_tier, &self.highest_tier_name) {
            (TopologyMode::Soft, ..) => Topology::Soft,
            (TopologyMode::Hard, None, Some(name)) => Topology::Hard(Tier::Name(name.clone())),
            (TopologyMode::Hard, tier, _) => Topology::Hard(Tier::Number(tier.unwrap_or(1))),
        }
    }

    fn check(&self, errors: &mut FieldErrors, field: &str) {
        let tier = format!("{field}.highest_tier");
        let name = format!("{field}.highest_tier_name");
        if self.mode == TopologyMode::Soft {
            let expected = "nothing, as the mode is soft: every tier is allowed";
            errors.require(self.highest_tier.is_none(), tier, &self.highest_tier, expected);
            let given = &self.highest_tier_name;
            errors.require(given.is_none(), name, given, expected);
            return;
        }
        if let Some(given) = self.highest_tier {
            let fits = (0..=MAX_TIER).contains(&given);
            errors.require(fits, tier, &given, format!("0 to {MAX_TIER}"));
            let other = &self.highest_tier_name;
            errors.require(other.is_none(), &name, other, "nothing, as highest_tier is given");
        }
        if let Some(given) = &self.highest_tier_name {
            check_name(errors, &name, given);
        }
    }
}

impl SubGroups {
    /// How many tasks of a sub-group must have a place.
    pub(crate) fn size(&self) -> u32 {
        self.size.and_then(|size| u32::try_from(size).ok()).unwrap_or(1).max(1)
    }

    /// How many sub-groups must have a place.
    pub(crate) fn min_groups(&self) -> u32 {
        self.min_groups.and_then(|min| u32::try_from(min).ok()).unwrap_or(0)
    }

    /// The name and number of the sub-group of a task, if one of these takes
    /// it.
    fn place(&self, role: &RoleSpec, index: i64) -> Option<(String, i64)> {
        if !self.roles.is_empty() && !self.roles.contains(&role.role) {
            return None;
        }
        if self.match_label_keys.is_empty() {
            let number = index / i64::from(self.size());
            return Some((format!("{}-{}-{number}", self.name, role.role), number));
        }
        let value = |key: &String| role.labels.get(key).filter(|value| !value.is_empty());
        let values: Option<Vec<&str>> =
            self.match_label_keys.iter().map(|key| value(key).map(String::as_str)).collect();
        let values = values?;
        let number = values.first().and_then(|value| value.parse().ok()).unwrap_or(0);
        Some((format!("{}-{}", self.name, values.join("-")), number))
    }
}

impl JobSpec {
    /// Gives a job its topology and the policies of its sub-groups.
    pub(crate) fn divide(&self, job: &mut Job) {
        let topology = self.network_topology.as_ref().map(NetworkTopology::topology);
        let policies = self.sub_groups.iter().map(|policy| GroupPolicy {
            name: policy.name.clone(),
            min_groups: policy.min_groups(),
        });
        job.divide(topology, policies.collect());
    }

    /// The sub-group of a task, made unless the job has it.
    pub(crate) fn group_of(&self, job: &mut Job, role: &RoleSpec, index: i64) -> GroupIx {
        let Some((number, name, order)) = place(&self.sub_groups, role, index) else {
            return GroupIx(0);
        };
        let policy = &self.sub_groups[number];
        let topology = policy.network_topology.as_ref().map(NetworkTopology::topology);
        let new = SubGroup::new(&name, Some(number), policy.size());
        job.group_named(number, &name, SubGroup { order, topology, ..new })
    }

    /// The policy that takes a task, by number, and the name of its sub-group.
    pub(crate) fn sub_group(&self, role: &RoleSpec, index: i64) -> Option<(usize, String)> {
        place(&self.sub_groups, role, index).map(|(number, name, _)| (number, name))
    }
}

fn place(policies: &[SubGroups], role: &RoleSpec, index: i64) -> Option<(usize, String, i64)> {
    policies.iter().enumerate().find_map(|(number, policy)| {
        policy.place(role, index).map(|(name, order)| (number, name, order))
    })
}

fn group_sizes(policies: &[SubGroups], tasks: &[RoleSpec]) -> Vec<BTreeMap<String, u32>> {
    let mut sizes = vec![BTreeMap::new(); policies.len()];
    for role in tasks {
        for index in 0..i64::from(role.count) {
            if let Some((number, name, _)) = place(policies, role, index) {
                *sizes[number].entry(name).or_default() += 1;
            }
        }
    }
    sizes
}

/// Checks the topology and the sub-groups of a job.
pub(super) fn check(
    errors: &mut FieldErrors,
    topology: Option<&NetworkTopology>,
    policies: &[SubGroups],
    tasks: &[RoleSpec],
) {
    if let Some(topology) = topology {
        topology.check(errors, "network_topology");
    }
    let count = policies.len();
    let expected = format!("at most {MAX_POLICIES}");
    errors.require(count <= MAX_POLICIES, "sub_groups", &count, expected);
    let mut names = BTreeSet::new();
    for (place, policy) in policies.iter().take(MAX_POLICIES).enumerate() {
        let field = |name: &str| format!("sub_groups[{place}].{name}");
        check_name(errors, &field("name"), &policy.name);
        let is_new = names.insert(&policy.name);
        errors.require(is_new, field("name"), &policy.name, "a name that no others have");
        for (at, role) in policy.roles.iter().enumerate() {
            let known = tasks.iter().any(|task| task.role == *role);
            errors.require(known, field(&format!("roles[{at}]")), role, "a role of the job");
        }
        if let Some(size) = policy.size {
            let fits = u32::try_from(size).is_ok_and(|size| size >= 1);
            errors.require(fits, field("size"), &size, "1 or more");
        }
        if let Some(min) = policy.min_groups {
            errors.require(u32::try_from(min).is_ok(), field("min_groups"), &min, "0 or more");
        }
        if let Some(topology) = &policy.network_topology {
            topology.check(errors, &field("network_topology"));
        }
    }
    if errors.all().is_empty() {
        check_sizes(errors, policies, tasks);
    }
}

/// Checks that sub-groups can have what they need.
pub(crate) fn check_sizes(errors: &mut FieldErrors, policies: &[SubGroups], tasks: &[RoleSpec]) {
    for (place, (policy, sizes)) in policies.iter().zip(group_sizes(policies, tasks)).enumerate() {
        let field = |name: &str| format!("sub_groups[{place}].{name}");
        if let Some((name, has)) = sizes.iter().find(|(_, has)| **has < policy.size()) {
            let expected =
                format!("a size that all sub-groups have; {name} has {has} of the job's tasks");
            errors.add(field("size"), &policy.size(), expected);
        }
        let (min, has) = (policy.min_groups(), sizes.len());
        let expected = format!("0 to {has}, the number of sub-groups");
        errors.require(min as usize <= has, field("min_groups"), &min, expected);
    }
}

//! Server groups.

use crate::compute::version::{Feature, Microversion};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_ledger::{Image, rows::ServerGroupRow};
use stowplan_model::Uuid;
use stowplan_scheduler::groups::living_members;
use utoipa::ToSchema;

/// A server group, as the compute API shows it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeServerGroup {
    /// Its uuid.
    id: Uuid,
    /// Its name.
    name: String,
    /// Its policy (from 2.64 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    /// Rules of its policy (from 2.64 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<BTreeMap<&'static str, i64>>,
    /// Its policy alone in a list (before 2.64).
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<[String; 1]>,
    /// Always empty (before 2.64).
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<BTreeMap<String, String>>,
    /// Its servers: those with allocations or on a host.
    members: Vec<Uuid>,
    /// Project that owns it (from 2.13 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<String>,
    /// User who made it (from 2.13 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
}

impl ComputeServerGroup {
    /// A group as a microversion shows it.
    #[must_use]
    pub fn of(image: &Image, row: &ServerGroupRow, version: Microversion) -> Self {
        let (new, owned) = (version.has(Feature::GroupPolicy), version.has(Feature::GroupOwner));
        let rules = || row.max_server_per_host.map(|limit| ("max_server_per_host", limit));
        Self {
            id: row.uuid,
            name: row.name.clone(),
            policy: new.then(|| row.policy.clone()),
            rules: new.then(|| rules().into_iter().collect()),
            policies: (!new).then(|| [row.policy.clone()]),
            metadata: (!new).then(BTreeMap::new),
            members: living_members(image, row).collect(),
            project_id: owned.then(|| row.project.clone()),
            user_id: owned.then(|| row.user.clone()),
        }
    }
}

/// A server group.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerGroupAnswer {
    /// The group.
    pub server_group: ComputeServerGroup,
}

/// Server groups.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerGroupsAnswer {
    /// In order of creation.
    pub server_groups: Vec<ComputeServerGroup>,
}

//! Host aggregates.

use super::times::{changed, written};
use crate::compute::version::{Feature, Microversion};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_model::Uuid;
use stowplan_scheduler::hosts::ZONE;
use utoipa::ToSchema;

/// A host aggregate, as the compute API shows it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeAggregate {
    /// The availability zone that it makes.
    availability_zone: Option<String>,
    /// When it was made, without a time zone.
    #[schema(examples("2026-01-01T00:00:00.000000"))]
    created_at: String,
    /// Always false: what is deleted is gone.
    deleted: bool,
    /// Always null.
    deleted_at: Option<String>,
    /// Names of its hosts, in order of joining. Not in the answer to its making.
    #[serde(skip_serializing_if = "Option::is_none")]
    hosts: Option<Vec<String>>,
    /// Its id.
    id: i64,
    /// Metadata. Not in the answer to its making.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<BTreeMap<String, String>>,
    /// Its name.
    name: String,
    /// When it was last changed; null if it never was.
    updated_at: Option<String>,
    /// Its uuid, which is that of the mirrored Placement aggregate too (from
    /// 2.41 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<Uuid>,
}

impl ComputeAggregate {
    /// An aggregate as a microversion shows it.
    #[must_use]
    pub fn of(row: &HostAggregateRow, version: Microversion) -> Self {
        Self {
            availability_zone: row.metadata.get(ZONE).cloned(),
            created_at: written(row.created),
            deleted: false,
            deleted_at: None,
            hosts: Some(row.hosts.clone()),
            id: row.id,
            metadata: Some(row.metadata.clone()),
            name: row.name.clone(),
            updated_at: changed(row.created, row.updated),
            uuid: version.has(Feature::AggregateUuid).then_some(row.uuid),
        }
    }

    /// The same as the answer to its making has it.
    #[must_use]
    pub fn made(row: &HostAggregateRow, version: Microversion) -> Self {
        Self { hosts: None, metadata: None, ..Self::of(row, version) }
    }
}

/// A host aggregate.
#[derive(Debug, Serialize, ToSchema)]
pub struct AggregateAnswer {
    /// The aggregate.
    pub aggregate: ComputeAggregate,
}

/// Host aggregates.
#[derive(Debug, Serialize, ToSchema)]
pub struct AggregatesAnswer {
    /// In order of their ids.
    pub aggregates: Vec<ComputeAggregate>,
}

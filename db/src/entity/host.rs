//! Compute nodes.

use sea_orm::entity::prelude::*;

/// A row of `hosts`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "hosts")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The compute node's uuid, which is its root provider's too; unique.
    pub uuid: String,
    /// The service host; unique together with the node.
    pub host: String,
    /// The hypervisor's host name.
    pub node: String,
    /// The cell; none when it has not been mapped yet.
    pub cell_uuid: Option<String>,
    /// Who reports it.
    pub source: String,
    /// Who writes its inventories.
    pub inventory_owner: String,
    /// Virtual CPUs as reported.
    pub vcpus: i64,
    /// Memory as reported, MiB.
    pub memory_mb: i64,
    /// Disk as reported, GiB.
    pub local_gb: i64,
    /// When its service was last heard as of the report held here, microseconds
    /// since the epoch: for readers of the table. What counts is the service's.
    pub last_seen_us: i64,
    /// The number of the report held here.
    pub report_seq: i64,
    /// The whole report, JSON.
    #[sea_orm(column_type = "Text")]
    pub report: String,
    /// Instances that came or went since the report, JSON; none where none did.
    #[sea_orm(column_type = "Text", nullable)]
    pub news: Option<String>,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

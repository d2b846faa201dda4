//! Host aggregates: hosts with metadata.

use sea_orm::entity::prelude::*;

/// A row of `host_aggregates`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "host_aggregates")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique.
    pub uuid: String,
    /// The name, unique, compared exactly.
    pub name: String,
    /// Its id elsewhere, where it was learnt from another service.
    pub external_id: Option<i64>,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Recorded placement decisions with their reasons.

use sea_orm::entity::prelude::*;

/// A row of `decisions`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "decisions")]
pub struct Model {
    /// The decision's uuid.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The request it answered.
    pub request_id: String,
    /// The ledger's sequence it was made on.
    pub seq: i64,
    /// The seed of its randomness, bits of a u64.
    pub seed: i64,
    /// What was decided.
    pub kind: String,
    /// How it ended.
    pub outcome: String,
    /// The summary, JSON.
    #[sea_orm(column_type = "Text")]
    pub header: String,
    /// The whole explanation, compressed; none when it was not kept.
    pub body: Option<Vec<u8>>,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

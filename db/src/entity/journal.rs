//! The journal: one row a committed mutation.

use sea_orm::entity::prelude::*;

/// A row of `journal`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "journal")]
pub struct Model {
    /// The sequence, dense from 1, given by the head.
    #[sea_orm(primary_key, auto_increment = false)]
    pub seq: i64,
    /// The uuid of the batch that wrote it.
    pub batch: String,
    /// The version of the body's form.
    pub version: i32,
    /// The mutation's kind.
    pub kind: String,
    /// The request that asked for it, for logs and explanations.
    pub request_id: String,
    /// When it was decided, microseconds since the epoch.
    pub time_us: i64,
    /// The after-images, JSON.
    #[sea_orm(column_type = "Text")]
    pub body: String,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

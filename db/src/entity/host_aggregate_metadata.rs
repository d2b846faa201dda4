//! A host aggregate's metadata.

use sea_orm::entity::prelude::*;

/// A row of `host_aggregate_metadata`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "host_aggregate_metadata")]
pub struct Model {
    /// The host aggregate's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub aggregate_id: i64,
    /// The key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub meta_key: String,
    /// The value.
    #[sea_orm(column_type = "Text")]
    pub meta_value: String,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Batch queues.

use sea_orm::entity::prelude::*;

/// A row of `queues`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "queues")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The name, unique, compared exactly.
    pub name: String,
    /// What an operator asked for, JSON.
    #[sea_orm(column_type = "Text")]
    pub spec: String,
    /// The state's name.
    pub state: String,
    /// Counts the changes, from 0.
    pub generation: i64,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

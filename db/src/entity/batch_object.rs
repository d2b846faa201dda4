//! Named objects that steer batch jobs.

use sea_orm::entity::prelude::*;

/// A row of `batch_objects`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "batch_objects")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique; it follows from kind and name.
    pub uuid: String,
    /// What it is.
    pub kind: String,
    /// The name, unique in its kind, compared exactly.
    pub name: String,
    /// What an operator asked for, JSON.
    #[sea_orm(column_type = "Text")]
    pub spec: String,
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

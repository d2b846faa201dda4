//! Batch jobs.

use sea_orm::entity::prelude::*;

/// A row of `jobs`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "jobs")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique.
    pub uuid: String,
    /// The namespace; unique together with the name.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The queue's name.
    pub queue: String,
    /// The phase's name.
    pub phase: String,
    /// What was asked for, JSON.
    #[sea_orm(column_type = "Text")]
    pub spec: String,
    /// What has been found out about it, JSON.
    #[sea_orm(column_type = "Text")]
    pub conditions: String,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Who holds allocations.

use sea_orm::entity::prelude::*;

/// A row of `consumers`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "consumers")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique.
    pub uuid: String,
    /// Counts the changes, from 0.
    pub generation: i64,
    /// The project's id as the caller gave it.
    pub project: String,
    /// The user's id as the caller gave it.
    pub user_id: String,
    /// The consumer type; none for one that was made before types were given.
    pub consumer_type: Option<String>,
    /// What it was made for, JSON; none when nobody said.
    #[sea_orm(column_type = "Text", nullable)]
    pub origin: Option<String>,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

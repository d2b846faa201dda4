//! Resource providers, roots and children.

use sea_orm::entity::prelude::*;

/// A row of `resource_providers`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "resource_providers")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique.
    pub uuid: String,
    /// The name, at most 200 characters, unique, compared exactly.
    pub name: String,
    /// Counts the changes, from 0.
    pub generation: i64,
    /// The parent's id; none for a root.
    pub parent_id: Option<i64>,
    /// The id of the tree's root; its own for a root.
    pub root_id: i64,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

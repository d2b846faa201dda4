//! The members of server groups.

use sea_orm::entity::prelude::*;

/// A row of `server_group_members`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "server_group_members")]
pub struct Model {
    /// The server group's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub group_id: i64,
    /// The instance's uuid.
    #[sea_orm(primary_key, auto_increment = false)]
    pub instance: String,
    /// Its place in the order of joining, from 0.
    pub position: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

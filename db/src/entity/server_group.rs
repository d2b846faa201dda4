//! Server groups: instances with a placement policy among them.

use sea_orm::entity::prelude::*;

/// A row of `server_groups`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "server_groups")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique.
    pub uuid: String,
    /// The name, not unique.
    pub name: String,
    /// The policy's name.
    pub policy: String,
    /// How many members one host may hold, with the anti-affinity policy; none for 1.
    pub max_server_per_host: Option<i64>,
    /// The project it belongs to.
    pub project: String,
    /// The user who made it.
    pub user_id: String,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

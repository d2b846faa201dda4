//! The processes that follow the journal, and how far each has come.

use sea_orm::entity::prelude::*;

/// A row of `members`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "members")]
pub struct Model {
    /// The process's uuid, new at every start.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The last sequence its image holds.
    pub applied_seq: i64,
    /// When it last said so, microseconds since the epoch.
    pub heartbeat_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Which hosts are in a host aggregate.

use sea_orm::entity::prelude::*;

/// A row of `host_aggregate_hosts`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "host_aggregate_hosts")]
pub struct Model {
    /// The host aggregate's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub aggregate_id: i64,
    /// The service host.
    #[sea_orm(primary_key, auto_increment = false)]
    pub host: String,
    /// Its place in the order of joining, from 0.
    pub position: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

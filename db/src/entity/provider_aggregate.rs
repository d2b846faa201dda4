//! Which aggregates a provider is in.

use sea_orm::entity::prelude::*;

/// A row of `provider_aggregates`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "provider_aggregates")]
pub struct Model {
    /// The provider's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub provider_id: i64,
    /// The aggregate's uuid.
    #[sea_orm(primary_key, auto_increment = false)]
    pub aggregate: String,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

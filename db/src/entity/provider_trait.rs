//! Which traits a provider has.

use sea_orm::entity::prelude::*;

/// A row of `provider_traits`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "provider_traits")]
pub struct Model {
    /// The provider's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub provider_id: i64,
    /// The trait's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub trait_id: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! How much of one class a consumer holds on one provider.

use sea_orm::entity::prelude::*;

/// A row of `allocations`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "allocations")]
pub struct Model {
    /// The consumer's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub consumer_id: i64,
    /// The provider's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub provider_id: i64,
    /// The resource class's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub class_id: i64,
    /// The amount, at least 1, in the class's units.
    pub used: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! What a provider has of one resource class.

use sea_orm::entity::prelude::*;

/// A row of `inventories`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inventories")]
pub struct Model {
    /// The provider's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub provider_id: i64,
    /// The resource class's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub class_id: i64,
    /// The whole amount, in the class's units.
    pub total: i64,
    /// Held back from allocation.
    pub reserved: i64,
    /// The least that one allocation may take.
    pub min_unit: i64,
    /// The most that one allocation may take.
    pub max_unit: i64,
    /// An allocation takes a multiple of it.
    pub step_size: i64,
    /// Capacity is (total - reserved) times this.
    pub allocation_ratio: f64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! The last id given of each kind of thing, where no row tells it any more.

use sea_orm::entity::prelude::*;

/// A row of `counters`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "counters")]
pub struct Model {
    /// The number of the kind.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// What is counted, for people.
    pub kind: String,
    /// The last id that was given when the row was written.
    pub last_id: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

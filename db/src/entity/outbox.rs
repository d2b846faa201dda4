//! How far the changes of the journal were sent as events: one row.

use sea_orm::entity::prelude::*;

/// A row of `outbox`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox")]
pub struct Model {
    /// Always 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The last change whose events were sent.
    pub sent_seq: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! The ledger's head: one row, moved by compare-and-set by every batch.

use sea_orm::entity::prelude::*;

/// A row of `head`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "head")]
pub struct Model {
    /// Always 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    /// The sequence of the last committed journal row; 0 for a new ledger.
    pub seq: i64,
    /// The uuid of the batch that moved the head last.
    pub batch: Option<String>,
    /// How many migrations the database has had: a binary that knows fewer must not write.
    pub schema_epoch: i32,
    /// The term of the batch leader, 0 for none yet.
    pub leader_epoch: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

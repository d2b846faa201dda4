//! How new what was learnt from the message bus is.

use sea_orm::entity::prelude::*;

/// A row of `stamps`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "stamps")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// Made of what it is about, unique.
    pub uuid: String,
    /// What it is about.
    #[sea_orm(column_type = "Text")]
    pub about: String,
    /// What was said, where that is kept nowhere else.
    #[sea_orm(column_type = "Text", nullable)]
    pub state: Option<String>,
    /// When its sender said so, microseconds since the epoch.
    pub said_us: i64,
    /// When we heard it, microseconds since the epoch.
    pub noted_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! The answers of requests with a key.

use sea_orm::entity::prelude::*;

/// A row of `request_answers`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "request_answers")]
pub struct Model {
    /// The key's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key_id: i64,
    /// The status of the answer.
    pub status: i32,
    /// Its body, JSON.
    #[sea_orm(column_type = "Text")]
    pub body: String,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

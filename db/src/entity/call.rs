//! Calls over the message bus with their answers.

use sea_orm::entity::prelude::*;

/// A row of `calls`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "calls")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The call's id as a uuid, unique.
    pub uuid: String,
    /// The call's id as its caller wrote it.
    pub msg_id: String,
    /// The message's id as its sender wrote it; empty when it had none.
    pub unique_id: String,
    /// The queue that the answer goes to.
    pub reply_queue: String,
    /// The answer.
    #[sea_orm(column_type = "Text")]
    pub answer: String,
    /// What was claimed for it, JSON.
    #[sea_orm(column_type = "Text")]
    pub claims: String,
    /// Whether the broker took the answer.
    pub delivered: bool,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

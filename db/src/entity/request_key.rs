//! Keys of requests, under which a request is answered once.

use sea_orm::entity::prelude::*;

/// A row of `request_keys`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "request_keys")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// What the key and its owner come to, unique.
    pub uuid: String,
    /// What the request's body comes to.
    pub fingerprint: String,
    /// When it was used, microseconds since the epoch.
    pub created_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Services on hosts, up or down, enabled or not.

use sea_orm::entity::prelude::*;

/// A row of `services`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "services")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique.
    pub uuid: String,
    /// The service host; unique together with the binary.
    pub host: String,
    /// The service's program, such as nova-compute.
    pub binary: String,
    /// The availability zone that it says it is in; none means by host aggregate.
    pub zone: Option<String>,
    /// The service's version number.
    pub version: i64,
    /// Whether an operator disabled it.
    pub disabled: bool,
    /// Why it is disabled; none when nobody said.
    #[sea_orm(column_type = "Text", nullable)]
    pub disabled_reason: Option<String>,
    /// Whether it counts as down whatever it reports.
    pub forced_down: bool,
    /// When it last reported, microseconds since the epoch; none for never.
    pub last_seen_us: Option<i64>,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Host aggregates and server groups.

use super::table::NewTable;
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    // One flush to the disk, not one for each table.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        NewTable::new("host_aggregates", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("name", 255)
            .times()
            .unique(&["uuid"])
            .unique(&["name"])
            .create(manager)
            .await?;
        NewTable::new("host_aggregate_hosts", &["aggregate_id", "host"])
            .longs(&["aggregate_id", "position"])
            .string("host", 255)
            .create(manager)
            .await?;
        NewTable::new("host_aggregate_metadata", &["aggregate_id", "meta_key"])
            .longs(&["aggregate_id"])
            .string("meta_key", 255)
            .text("meta_value")
            .create(manager)
            .await?;
        NewTable::new("server_groups", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("name", 255)
            .string("policy", 255)
            .long_or_null("max_server_per_host")
            .string("project", 255)
            .string("user_id", 255)
            .times()
            .unique(&["uuid"])
            .create(manager)
            .await?;
        NewTable::new("server_group_members", &["group_id", "instance"])
            .longs(&["group_id", "position"])
            .uuid("instance")
            .create(manager)
            .await
    }
}

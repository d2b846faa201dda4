//! Cells, compute nodes and services.

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
        NewTable::new("cells", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("name", 255)
            .flag("disabled")
            .unique(&["uuid"])
            .create(manager)
            .await?;
        NewTable::new("hosts", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("host", 255)
            .string("node", 255)
            .uuid_or_null("cell_uuid")
            .string("source", 16)
            .string("inventory_owner", 16)
            .longs(&["vcpus", "memory_mb", "local_gb"])
            .longs(&["last_seen_us", "report_seq"])
            .text("report")
            .times()
            .unique(&["uuid"])
            .unique(&["host", "node"])
            .create(manager)
            .await?;
        NewTable::new("services", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("host", 255)
            .string("binary", 255)
            .text_or_null("zone")
            .longs(&["version"])
            .flag("disabled")
            .text_or_null("disabled_reason")
            .flag("forced_down")
            .long_or_null("last_seen_us")
            .times()
            .unique(&["uuid"])
            .unique(&["host", "binary"])
            .create(manager)
            .await
    }
}

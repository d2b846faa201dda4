//! The head, the journal and the processes that follow it.

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
        NewTable::new("head", &["id"])
            .int("id")
            .longs(&["seq"])
            .uuid_or_null("batch")
            .int("schema_epoch")
            .longs(&["leader_epoch"])
            .create(manager)
            .await?;
        NewTable::new("journal", &["seq"])
            .longs(&["seq"])
            .uuid("batch")
            .int("version")
            .string("kind", 64)
            .string("request_id", 64)
            .longs(&["time_us"])
            .text("body")
            .create(manager)
            .await?;
        NewTable::new("members", &["id"])
            .uuid("id")
            .longs(&["applied_seq", "heartbeat_us"])
            .create(manager)
            .await?;
        insert_head(manager).await
    }
}

/// The one row of the head; a second run leaves it as it is.
async fn insert_head(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut insert = Query::insert();
    insert
        .into_table("head")
        .columns(["id", "seq", "schema_epoch", "leader_epoch"])
        .on_conflict(OnConflict::column("id").update_column("id").to_owned());
    insert.values_panic([1.into(), 0_i64.into(), 0.into(), 0_i64.into()]);
    manager.execute(insert).await
}

//! Keys of requests, under which a request is answered once.

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
        NewTable::new("request_keys", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .uuid("fingerprint")
            .longs(&["created_us"])
            .unique(&["uuid"])
            .create(manager)
            .await?;
        NewTable::new("request_answers", &["key_id"])
            .longs(&["key_id"])
            .int("status")
            .text("body")
            .create(manager)
            .await
    }
}

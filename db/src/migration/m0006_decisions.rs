//! Recorded decisions.

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
        NewTable::new("decisions", &["id"])
            .uuid("id")
            .string("request_id", 64)
            .longs(&["seq", "seed"])
            .string("kind", 16)
            .string("outcome", 32)
            .text("header")
            .blob_or_null("body")
            .longs(&["created_us"])
            .indexed(&["request_id"])
            .indexed(&["created_us"])
            .create(manager)
            .await
    }
}

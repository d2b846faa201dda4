//! Priority classes, quotas and the like; what else there is to a task.

use super::table::{NewTable, add_text_or_null};
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
        NewTable::new("batch_objects", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("kind", 32)
            .string("name", 255)
            .text("spec")
            .longs(&["generation"])
            .times()
            .unique(&["uuid"])
            .create(manager)
            .await?;
        add_text_or_null(manager, "tasks", "detail").await
    }
}

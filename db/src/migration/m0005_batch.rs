//! Queues, jobs and tasks.

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
        NewTable::new("queues", &["id"])
            .longs(&["id"])
            .string("name", 255)
            .text("spec")
            .string("state", 16)
            .longs(&["generation"])
            .times()
            .unique(&["name"])
            .create(manager)
            .await?;
        NewTable::new("jobs", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("namespace", 255)
            .string("name", 255)
            .string("queue", 255)
            .string("phase", 16)
            .text("spec")
            .text("conditions")
            .times()
            .unique(&["uuid"])
            .unique(&["namespace", "name"])
            .indexed(&["queue"])
            .create(manager)
            .await?;
        NewTable::new("tasks", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .longs(&["job_id"])
            .string("role", 255)
            .longs(&["task_index"])
            .string("state", 16)
            .longs(&["attempt"])
            .uuid_or_null("host_uuid")
            .text_or_null("reason")
            .times()
            .unique(&["uuid"])
            .indexed(&["job_id"])
            .create(manager)
            .await
    }
}

//! The last ids given, so that none is given twice.

use super::table::NewTable;
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        NewTable::new("counters", &["id"])
            .longs(&["id"])
            .string("kind", 64)
            .longs(&["last_id"])
            .create(manager)
            .await
    }
}

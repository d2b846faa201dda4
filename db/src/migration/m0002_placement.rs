//! Resource classes, traits, providers and what hangs on them, consumers and
//! their allocations. Questions are answered from memory: there is no index
//! but those that keep keys unique, for each costs every claim a page.

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
        NewTable::new("resource_classes", &["id"])
            .longs(&["id"])
            .string("name", 255)
            .times()
            .unique(&["name"])
            .create(manager)
            .await?;
        NewTable::new("traits", &["id"])
            .longs(&["id"])
            .string("name", 255)
            .times()
            .unique(&["name"])
            .create(manager)
            .await?;
        NewTable::new("resource_providers", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("name", 200)
            .longs(&["generation"])
            .long_or_null("parent_id")
            .longs(&["root_id"])
            .times()
            .unique(&["uuid"])
            .unique(&["name"])
            .create(manager)
            .await?;
        NewTable::new("inventories", &["provider_id", "class_id"])
            .longs(&["provider_id", "class_id", "total", "reserved"])
            .longs(&["min_unit", "max_unit", "step_size"])
            .double("allocation_ratio")
            .create(manager)
            .await?;
        NewTable::new("provider_traits", &["provider_id", "trait_id"])
            .longs(&["provider_id", "trait_id"])
            .create(manager)
            .await?;
        NewTable::new("provider_aggregates", &["provider_id", "aggregate"])
            .longs(&["provider_id"])
            .uuid("aggregate")
            .create(manager)
            .await?;
        NewTable::new("consumers", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .longs(&["generation"])
            .string("project", 255)
            .string("user_id", 255)
            .string_or_null("consumer_type", 255)
            .text_or_null("origin")
            .times()
            .unique(&["uuid"])
            .create(manager)
            .await?;
        NewTable::new("allocations", &["consumer_id", "provider_id", "class_id"])
            .longs(&["consumer_id", "provider_id", "class_id", "used"])
            .create(manager)
            .await
    }
}

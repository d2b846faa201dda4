//! What the message bus needs: calls with their answers, how new the news of
//! hosts are, and how far events were sent.

use super::table::{NewTable, add_column};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        NewTable::new("calls", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .string("msg_id", 255)
            .string("unique_id", 255)
            .string("reply_queue", 255)
            .text("answer")
            .text("claims")
            .flag("delivered")
            .times()
            .unique(&["uuid"])
            .create(manager)
            .await?;
        NewTable::new("stamps", &["id"])
            .longs(&["id"])
            .uuid("uuid")
            .text("about")
            .text_or_null("state")
            .longs(&["said_us", "noted_us"])
            .unique(&["uuid"])
            .create(manager)
            .await?;
        NewTable::new("outbox", &["id"]).longs(&["id", "sent_seq"]).create(manager).await?;
        add_column(manager, "hosts", "news", ColumnType::Text).await?;
        add_column(manager, "host_aggregates", "external_id", ColumnType::BigInteger).await
    }
}

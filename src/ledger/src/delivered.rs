//! Calls whose answers the broker took: noted in memory and in bulk in the database.
//!
//! Such a note is no mutation: it takes no sequence number and no journal row. One
//! that a crash loses means that an answer is sent once more.

use crate::{Ledger, error::Unavailable};
use stowplan_db::{
    entity::call::{Column, Entity},
    sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr},
};
use stowplan_model::Uuid;

/// Calls in one statement.
const CHUNK: usize = 500;

impl Ledger {
    /// Notes that the answers of these calls were taken. Calls that are gone are
    /// passed over.
    ///
    /// # Errors
    /// When the database does not take it; then the same may be noted again.
    pub async fn note_delivered(&self, calls: &[Uuid]) -> Result<(), Unavailable> {
        for chunk in calls.chunks(CHUNK) {
            let image = self.image();
            let ids: Vec<i64> =
                chunk.iter().filter_map(|call| Some(image.calls.get(*call)?.id)).collect();
            let update = Entity::update_many()
                .col_expr(Column::Delivered, Expr::value(true))
                .filter(Column::Id.is_in(ids));
            self.shared
                .beside(|connection| async move { update.exec(&*connection.writer().await).await })
                .await?;
            let calls = chunk.to_vec();
            self.touch(move |image| calls.iter().for_each(|call| image.note_delivered(*call)))?;
        }
        Ok(())
    }
}

//! How far the changes of the journal were sent as events. It is no mutation: it
//! has no sequence number, and no place in the image.

use crate::{Ledger, error::Unavailable};
use stowplan_db::{
    entity::outbox::{Column, Entity, Model},
    sea_orm::{
        ActiveModelTrait, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter, sea_query::Expr,
    },
};

/// The one row.
const ROW: i64 = 1;

impl Ledger {
    /// The last change whose events were sent; none when none ever were.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn outbox(&self) -> Result<Option<i64>, Unavailable> {
        let read = self.shared.beside(|connection| async move {
            Entity::find_by_id(ROW).one(connection.reader()).await
        });
        Ok(read.await?.map(|row| row.sent_seq))
    }

    /// Notes that the events of all changes up to this one were sent.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn set_outbox(&self, sent_seq: i64) -> Result<(), Unavailable> {
        self.shared
            .beside(move |connection| async move {
                let writer = connection.writer().await;
                let set = Entity::update_many()
                    .col_expr(Column::SentSeq, Expr::val(sent_seq))
                    .filter(Expr::col(Column::Id).eq(ROW));
                if set.exec(&*writer).await?.rows_affected == 0 {
                    let row = Model { id: ROW, sent_seq }.into_active_model();
                    // MariaDB counts a row that is as it was as not affected.
                    if Entity::find_by_id(ROW).one(&*writer).await?.is_none() {
                        row.insert(&*writer).await?;
                    }
                }
                Ok(())
            })
            .await
    }
}

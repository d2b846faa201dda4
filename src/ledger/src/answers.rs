//! Answers of requests with a key, read from the database.

use crate::{Ledger, error::Unavailable, rows::RequestAnswerRow};
use stowplan_db::{entity::request_answer::Entity, sea_orm::EntityTrait};

impl Ledger {
    /// The answer that was given to the request of a key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn request_answer(&self, key: i64) -> Result<Option<RequestAnswerRow>, Unavailable> {
        let find = Entity::find_by_id(key);
        let row =
            self.shared.beside(|connection| async move { find.one(connection.reader()).await });
        let row = row.await?;
        Ok(row.map(|row| RequestAnswerRow {
            key: row.key_id,
            status: u16::try_from(row.status).unwrap_or(u16::MAX),
            body: row.body,
        }))
    }
}

//! Reading the journal: what changed since a point.

use crate::{
    Ledger,
    change::{Change, Entry},
    error::Unavailable,
};
use stowplan_db::{Connection, DbErr, entity::journal, journal_since};
use stowplan_model::Micros;

impl Ledger {
    /// The committed changes after `seq`, oldest first, at most `limit`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn journal(&self, seq: i64, limit: u64) -> Result<Vec<Entry>, Unavailable> {
        read(&self.shared.connection, seq, limit).await
    }
}

async fn read(connection: &Connection, seq: i64, limit: u64) -> Result<Vec<Entry>, Unavailable> {
    let unavailable = |error: DbErr| Unavailable::Database { reason: error.to_string() };
    let rows = journal_since(connection.reader(), seq, limit).await.map_err(unavailable)?;
    rows.into_iter().map(entry).collect()
}

fn entry(row: journal::Model) -> Result<Entry, Unavailable> {
    let records = serde_json::from_str(&row.body).map_err(Unavailable::encoding)?;
    Ok(Entry {
        seq: row.seq,
        request_id: row.request_id,
        time: Micros(row.time_us),
        change: Change { kind: row.kind, records },
    })
}

//! The journal: what changed since a point, and forgetting what is old.

use crate::{
    Ledger,
    change::{CHANGE_VERSION, Change, Entry},
    error::Unavailable,
};
use std::sync::Arc;
use stowplan_db::{entity::journal, journal_since, trim_journal};
use stowplan_model::Micros;

/// Entries that one call forgets at most: the writer waits meanwhile.
const TRIM_PIECE: u32 = 10_000;

impl Ledger {
    /// The committed changes after `seq`, oldest first, at most `limit`. Where
    /// the first is not the one after `seq`, those between are forgotten. The
    /// newest ones are read from memory.
    ///
    /// # Errors
    /// When the database does not answer, or an entry is of another version.
    pub async fn journal(&self, seq: i64, limit: u64) -> Result<Vec<Arc<Entry>>, Unavailable> {
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        if let Some(entries) = self.shared.recent.since(seq, most) {
            return Ok(entries);
        }
        let read = self.shared.beside(move |connection| async move {
            journal_since(connection.reader(), seq, limit).await
        });
        read.await?.into_iter().map(|row| entry(row).map(Arc::new)).collect()
    }

    /// Forgets changes that were committed before `oldest` (`[ledger]
    /// journal_max_age`), but never the last one, and none after `upto` if that
    /// is named. One call forgets a piece;
    /// call again until none went. Returns how many went.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn trim_journal(
        &self,
        oldest: Micros,
        upto: Option<i64>,
    ) -> Result<u64, Unavailable> {
        self.shared.recent.trim(oldest, upto);
        self.shared
            .beside(move |connection| async move {
                trim_journal(&connection, oldest.0, TRIM_PIECE, upto).await
            })
            .await
    }
}

fn entry(row: journal::Model) -> Result<Entry, Unavailable> {
    if row.version != CHANGE_VERSION {
        let (seq, version) = (row.seq, row.version);
        let fault = format!("entry {seq} of the journal is of version {version}");
        return Err(Unavailable::fault(&fault));
    }
    let records = serde_json::from_str(&row.body).map_err(Unavailable::encoding)?;
    Ok(Entry {
        seq: row.seq,
        request_id: row.request_id,
        time: Micros(row.time_us),
        change: Change { kind: row.kind, records },
    })
}

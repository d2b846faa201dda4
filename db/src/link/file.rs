//! The writer's connection to a SQLite file: on the caller's own thread, with
//! statements that stay prepared. The pools' connections have a thread each, to
//! and from which every statement and its outcome travel, and a text is read
//! anew each time: that took more than half of what a small batch costs.
//!
//! It does not yield while the disk is waited for, so it belongs on a thread of
//! the writer's own. For the lock of another it waits as everything else does.

use super::{fault::error, room};
use crate::batch::{Move, Written};
use crate::bound::Bound;
use crate::connect::WAL_AUTOCHECKPOINT;
use crate::head::HEAD_ID;
use crate::migration::KNOWN_EPOCH;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Params, params, params_from_iter};
use sea_orm::DbErr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a lock that is not free is left alone.
const LOCK_PAUSE: Duration = Duration::from_millis(2);
/// The length of a log that is about to be moved into the file: a frame for each
/// page, and what one batch adds.
const LOG_BYTES: u64 = (WAL_AUTOCHECKPOINT as u64 + 100) * (4096 + 24);
/// Statements kept prepared: a few for each table.
const PREPARED: usize = 128;

/// A SQLite file and our connection to it.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    /// How long a lock that another connection holds is waited for.
    lock_timeout: Duration,
    /// Whether commits wait for the disk.
    is_durable: bool,
    open: Option<Connection>,
    /// SQLite's mark of foreign writes as of our last look; none when something
    /// foreign is known to have been written since.
    mark: Option<i64>,
}

impl File {
    pub fn new(path: PathBuf, lock_timeout: Duration, is_durable: bool) -> Self {
        Self { path, lock_timeout, is_durable, open: None, mark: None }
    }

    /// Makes room for the log of a database that nobody has open. Without it
    /// commits are slower, and nothing else.
    pub fn make_room(&self) {
        if self.is_durable {
            let _ = room::make(&self.path, LOG_BYTES);
        }
    }

    /// Takes the file as it is now for what will be read of it.
    pub fn look(&mut self) -> Result<(), DbErr> {
        self.mark = None;
        let mark = self.connection().and_then(data_version).map_err(error)?;
        self.mark = Some(mark);
        Ok(())
    }

    /// Writes one batch as one transaction.
    pub async fn write(&mut self, step: &Move<'_>, statements: &[Bound]) -> Result<Written, DbErr> {
        let until = Instant::now() + self.lock_timeout;
        while let Err(cause) = self.begin() {
            let is_busy = cause.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            if !is_busy || Instant::now() >= until {
                return Err(error(cause));
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        let mark = self.mark;
        let connection = self.connection().map_err(error)?;
        let written = transaction(connection, mark, step, statements);
        if !matches!(written, Ok(Written::Committed)) {
            self.undo();
        }
        if matches!(written, Ok(Written::HeadMoved)) {
            self.look()?;
        }
        written.map_err(error)
    }

    /// Others of this process write now; what was written before is not theirs.
    pub fn yield_turn(&mut self) {
        let known = self.mark.take();
        self.mark = known.filter(|known| self.version() == Some(*known));
    }

    /// They are done: what was written meanwhile is our own.
    pub fn resume(&mut self) {
        if self.mark.is_some() {
            self.mark = self.version();
        }
    }

    pub fn close(&mut self) {
        (self.open, self.mark) = (None, None);
    }

    /// Takes the lock on the file, if it is free.
    fn begin(&mut self) -> Result<(), Error> {
        let lock_timeout = self.lock_timeout;
        let connection = self.connection()?;
        connection.busy_timeout(Duration::ZERO)?;
        let begun = execute(connection, "BEGIN IMMEDIATE", []);
        connection.busy_timeout(lock_timeout)?;
        begun.map(drop)
    }

    fn version(&mut self) -> Option<i64> {
        self.connection().and_then(data_version).ok()
    }

    /// Ends a transaction that failed, or gives up the connection, which ends it
    /// too: what followed in it would never be kept.
    fn undo(&mut self) {
        let is_open = |open: &Connection| !open.is_autocommit();
        if let Some(open) = self.open.as_ref().filter(|open| is_open(open)) {
            let _ = execute(open, "ROLLBACK", []);
        }
        if self.open.as_ref().is_some_and(is_open) {
            self.close();
        }
    }

    fn connection(&mut self) -> Result<&Connection, Error> {
        if self.open.is_none() {
            // A new connection's marks are not those of the old one.
            self.mark = None;
            self.open = Some(self.connect()?);
        }
        self.open.as_ref().ok_or(Error::InvalidQuery)
    }

    fn connect(&self) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(self.lock_timeout)?;
        let synchronous = if self.is_durable { "FULL" } else { "NORMAL" };
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "wal_autocheckpoint", WAL_AUTOCHECKPOINT)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        Ok(connection)
    }
}

/// Goes through with a transaction that has begun: from there on nobody else
/// writes.
fn transaction(
    connection: &Connection,
    mark: Option<i64>,
    step: &Move<'_>,
    statements: &[Bound],
) -> Result<Written, Error> {
    if mark != Some(data_version(connection)?) || !move_head(connection, step)? {
        return Ok(Written::HeadMoved);
    }
    for Bound { text, rows } in statements {
        let mut statement = connection.prepare_cached(text)?;
        for row in rows {
            statement.execute(params_from_iter(row))?;
        }
    }
    execute(connection, "COMMIT", [])?;
    Ok(Written::Committed)
}

fn move_head(connection: &Connection, step: &Move<'_>) -> Result<bool, Error> {
    let text = "UPDATE head SET seq = ?, batch = ? WHERE id = ? AND seq = ? AND schema_epoch = ?";
    let values = params![step.new, step.batch, HEAD_ID, step.known, KNOWN_EPOCH];
    Ok(execute(connection, text, values)? == 1)
}

fn data_version(connection: &Connection) -> Result<i64, Error> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

fn execute(connection: &Connection, text: &str, values: impl Params) -> Result<usize, Error> {
    connection.prepare_cached(text)?.execute(values)
}

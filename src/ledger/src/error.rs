//! What can go wrong with a write, and at start.

use stowplan_db::{ConnectError, DbErr, SchemaError, Trouble};
use thiserror::Error;

/// Why a proposal was not committed.
#[derive(Debug, Error)]
pub enum WriteError<E> {
    /// The proposal itself did not hold, by the rules of its own crate.
    /// Nothing was changed.
    #[error("{0}")]
    Refused(E),
    /// The ledger could not commit it. Nothing was changed, unless the
    /// database went away in the midst of the commit and stayed away; the
    /// reason says so then.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// The ledger cannot write just now: 503 with Retry-After at the API.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Unavailable {
    /// The database cannot be reached, or is busy beyond all patience.
    #[error("the database is not available: {reason}")]
    Database {
        /// What it said, without secrets.
        reason: String,
    },
    /// Another process wrote to the database at every try.
    #[error("another process writes to the database, and one at a time is supported: try again")]
    Contended,
    /// The writer has stopped, because the service is stopping.
    #[error("the ledger is closing")]
    Closing,
    /// More writes wait than the queue holds.
    #[error("too many writes are waiting (limit {limit})")]
    Overloaded {
        /// How many may wait.
        limit: usize,
    },
    /// The change has a row that is longer than the database takes.
    #[error(
        "the change is too large for the database: a row of {bytes} bytes, of {most} at most \
         (MariaDB: max_allowed_packet)"
    )]
    TooLarge {
        /// What its longest row takes.
        bytes: usize,
        /// What the database takes.
        most: usize,
    },
    /// A fault inside; the log has the details under this id.
    #[error("internal fault {id} in the ledger; see the log")]
    Fault {
        /// The id in the log.
        id: String,
    },
}

impl Unavailable {
    pub(crate) fn database(error: impl std::fmt::Display) -> Self {
        Self::Database { reason: error.to_string() }
    }

    pub(crate) fn encoding(error: serde_json::Error) -> Self {
        Self::fault(&error)
    }

    /// Logs a fault under a fresh id, and names that id.
    #[must_use]
    pub fn fault(error: &dyn std::fmt::Display) -> Self {
        let id = uuid::Uuid::new_v4().to_string();
        tracing::error!(fault = %id, error = %error, "ledger fault");
        Self::Fault { id }
    }
}

/// Why the ledger cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Another stowplan holds the database file.
    #[error("{path} is in use by another stowplan process; stop it first")]
    Locked {
        /// The lock file.
        path: String,
    },
    /// Another stowplan holds the database of a server.
    #[error(
        "the database is in use by another stowplan process ({holder} of its server), which did \
         not let go of it within {seconds} s; stop it first"
    )]
    Held {
        /// The server's session that holds it.
        holder: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The lock file cannot be made.
    #[error("cannot lock {path}: {source}")]
    Lock {
        /// The lock file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database does not answer, or did not in time: it may later.
    #[error("{0}")]
    Away(String),
    /// The database cannot be opened or brought up to date.
    #[error("{0}")]
    Database(String),
    /// A row of the database is not what this version writes.
    #[error("table {table}, row {row}: {problem}")]
    Row {
        /// The table.
        table: &'static str,
        /// Its key.
        row: String,
        /// What is wrong.
        problem: String,
    },
    /// The system gave no thread for the writer.
    #[error("cannot start the writer: {0}")]
    Thread(std::io::Error),
}

impl From<DbErr> for OpenError {
    fn from(error: DbErr) -> Self {
        match Trouble::classify(&error) {
            Trouble::Retry | Trouble::Lost => Self::Away(error.to_string()),
            _ => Self::Database(error.to_string()),
        }
    }
}

impl From<ConnectError> for OpenError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Refused { .. } => Self::Away(error.to_string()),
            other => Self::Database(other.to_string()),
        }
    }
}

impl From<SchemaError> for OpenError {
    fn from(error: SchemaError) -> Self {
        match error {
            SchemaError::Busy => Self::Away(error.to_string()),
            SchemaError::Database(error) => error.into(),
            other => Self::Database(other.to_string()),
        }
    }
}

/// Why a ledger cannot be filled.
#[derive(Debug, Error)]
pub enum FillError {
    /// It holds something already.
    #[error("the ledger is not empty: it holds {}", list(present))]
    NotEmpty {
        /// What, and how much of it.
        present: Vec<(&'static str, usize)>,
    },
    /// It cannot be opened, or what was written cannot be read again.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database does not take what comes.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

fn list(present: &[(&'static str, usize)]) -> String {
    let items: Vec<String> =
        present.iter().map(|(what, count)| format!("{count} {what}")).collect();
    items.join(", ")
}

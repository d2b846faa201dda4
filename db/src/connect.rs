//! Opening the database.

mod mariadb;
mod postgres;
mod sqlite;

use crate::link::{Link, Source};
use crate::spec::ConnectSpec;
use sea_orm::sqlx::{self, pool::PoolOptions};
use sea_orm::{
    AccessMode, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel,
    TransactionOptions, TransactionTrait,
};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};

/// Statements kept prepared on each connection.
const STATEMENT_CACHE: usize = 1024;
/// Most bytes of one text on SQLite (its SQLITE_MAX_SQL_LENGTH) and on
/// PostgreSQL (whose messages end at 1 GiB).
const MOST_BYTES: usize = 1_000_000_000;

/// Why the database could not be opened. No text holds a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address cannot be read.
    #[error("the database address {place} is not understood: {cause}")]
    Address {
        /// The address without password and parameters.
        place: String,
        /// What is wrong with it.
        cause: String,
    },
    /// There is no directory for a SQLite file.
    #[error("cannot open the database {file}: there is no directory {directory}")]
    Directory {
        /// The directory.
        directory: String,
        /// The file.
        file: String,
    },
    /// The server or the file cannot be reached or refuses us.
    #[error("cannot open the database {place}: {cause}")]
    Refused {
        /// The address without password and parameters.
        place: String,
        /// What the server or the library said.
        cause: String,
    },
}

/// An open database: pools of connections, cheap to clone.
#[derive(Clone, Debug)]
pub struct Connection {
    writer: DatabaseConnection,
    reader: DatabaseConnection,
    backend: DbBackend,
    most_bytes: usize,
    pub(crate) link: Arc<Mutex<Link>>,
}

/// The right to write beside the batches, see [`Connection::writer`].
#[derive(Debug)]
pub struct Writer<'a> {
    db: &'a DatabaseConnection,
    _turn: Option<MutexGuard<'a, Link>>,
}

impl Deref for Writer<'_> {
    type Target = DatabaseConnection;

    fn deref(&self) -> &DatabaseConnection {
        self.db
    }
}

impl Connection {
    /// Where everything but batches is written. On SQLite there is one
    /// connection for all writes, as long as the process lives, so that what
    /// others write can be told from what we write: whoever writes takes turns
    /// with the batches, until the returned value is dropped.
    pub async fn writer(&self) -> Writer<'_> {
        let turn = if self.backend == DbBackend::Sqlite {
            let mut link = self.link.lock().await;
            link.give_back();
            Some(link)
        } else {
            None
        };
        Writer { db: &self.writer, _turn: turn }
    }

    /// Where reads that take long are done (decisions, events): on SQLite they
    /// do not wait for the writer nor the writer for them, and writes are
    /// refused.
    pub fn reader(&self) -> &DatabaseConnection {
        &self.reader
    }

    /// Which database it is.
    pub fn backend(&self) -> DbBackend {
        self.backend
    }

    /// Most bytes that the database takes in one text.
    pub fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// A read-only transaction that sees one state of all tables from its
    /// first read on, for loading the image.
    ///
    /// # Errors
    /// When no connection is to be had.
    pub async fn snapshot(&self) -> Result<DatabaseTransaction, DbErr> {
        // SQLite's transactions are such by themselves and take no options.
        let options = match self.backend {
            DbBackend::Sqlite => TransactionOptions::default(),
            _ => TransactionOptions {
                isolation_level: Some(IsolationLevel::RepeatableRead),
                access_mode: Some(AccessMode::ReadOnly),
                sqlite_transaction_mode: None,
            },
        };
        self.reader.begin_with_options(options).await
    }

    /// Closes all connections, waiting for what is under way.
    ///
    /// # Errors
    /// When a connection does not close in good order.
    pub async fn close(&self) -> Result<(), DbErr> {
        self.link.lock().await.give_back();
        self.reader.close_by_ref().await?;
        self.writer.close_by_ref().await
    }
}

/// Opens the database. A SQLite file is made if it is missing, its
/// directory is not. A bare connection is tried first, since a pool that cannot
/// connect only says that its time ran out.
///
/// # Errors
/// With the real cause when the address is wrong, or the server or the file is
/// out of reach.
pub async fn connect(spec: &ConnectSpec) -> Result<Connection, ConnectError> {
    let (source, reader, most_bytes) = match spec.backend {
        DbBackend::Sqlite => {
            let (writer, reader) = sqlite::pools(spec).await?;
            (Source::Sqlite(writer), reader.into(), MOST_BYTES)
        }
        _ => server(spec).await?,
    };
    let keeps = !sqlite::in_memory(spec);
    open(spec, source, reader, most_bytes, keeps).await
}

/// Opens a database that belongs to another program, to be read through
/// [`Connection::snapshot`] only. A SQLite file has to be there, and none of its
/// settings is changed.
///
/// # Errors
/// As [`connect`].
pub async fn connect_read_only(spec: &ConnectSpec) -> Result<Connection, ConnectError> {
    let (source, reader, most_bytes) = match spec.backend {
        DbBackend::Sqlite => {
            let source = Source::Sqlite(sqlite::read_only_pool(spec).await?);
            let reader = source.pool();
            (source, reader, MOST_BYTES)
        }
        _ => server(spec).await?,
    };
    open(spec, source, reader, most_bytes, false).await
}

/// The pool of a server, which serves writing and reading alike, and the most
/// bytes that it takes in one text.
async fn server(spec: &ConnectSpec) -> Result<(Source, DatabaseConnection, usize), ConnectError> {
    let (source, most_bytes) = match spec.backend {
        DbBackend::Postgres => (Source::Postgres(postgres::pool(spec).await?), MOST_BYTES),
        _ => {
            let (pool, most_bytes) = mariadb::pool(spec).await?;
            (Source::MariaDb(pool), most_bytes)
        }
    };
    let reader = source.pool();
    Ok((source, reader, most_bytes))
}

async fn open(
    spec: &ConnectSpec,
    source: Source,
    reader: DatabaseConnection,
    most_bytes: usize,
    keeps: bool,
) -> Result<Connection, ConnectError> {
    let writer = source.pool();
    let mut link = Link::new(source, keeps, spec.recycle_time);
    // The first look: what was written before is what will be loaded. It takes
    // no lock, so that a database may be opened while another writes.
    link.look().await.map_err(|error| refused(spec, error))?;
    let (backend, link) = (spec.backend, Arc::new(Mutex::new(link)));
    Ok(Connection { writer, reader, backend, most_bytes, link })
}

/// What all pools have in common. Nothing is asked of a connection before it
/// is used: a dead one shows in its first statement, and the writer tries
/// again.
fn pool_options<D: sqlx::Database>(spec: &ConnectSpec) -> PoolOptions<D> {
    PoolOptions::new()
        .test_before_acquire(false)
        .acquire_timeout(spec.acquire_timeout)
        .idle_timeout(spec.recycle_time)
        .max_lifetime(spec.recycle_time)
}

/// Connections a server's pool may hold: one runs a migration while another
/// holds the lock on it.
fn server_connections(spec: &ConnectSpec) -> u32 {
    spec.max_connections.max(2)
}

fn refused(spec: &ConnectSpec, cause: impl ToString) -> ConnectError {
    ConnectError::Refused { place: spec.place(), cause: cause.to_string() }
}

fn address_error(spec: &ConnectSpec, cause: &sqlx::Error) -> ConnectError {
    ConnectError::Address { place: spec.place(), cause: cause.to_string() }
}

/// One connection, opened for the cause when it fails.
async fn probe<C: sqlx::Connection>(
    spec: &ConnectSpec,
    options: &C::Options,
    patience: Duration,
) -> Result<C, ConnectError> {
    match tokio::time::timeout(patience, C::connect_with(options)).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(cause)) => Err(refused(spec, cause)),
        Err(_) => Err(refused(spec, format!("no answer within {patience:?}"))),
    }
}

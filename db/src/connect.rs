//! Opening the database.

mod mariadb;
mod postgres;
mod sqlite;

use crate::spec::ConnectSpec;
use sea_orm::sqlx::{self, pool::PoolOptions};
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    IsolationLevel, Statement, TransactionOptions, TransactionTrait,
};
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};
use std::time::Duration;

/// Statements kept prepared on each connection.
const STATEMENT_CACHE: usize = 1024;

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
    /// The directory for a SQLite file cannot be made.
    #[error("cannot make the directory {directory} for the database: {cause}")]
    Directory {
        /// The directory.
        directory: String,
        /// What the system said.
        cause: std::io::Error,
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
    /// SQLite's count of foreign writes as of our last look.
    mark: Arc<AtomicI64>,
}

impl Connection {
    /// Whether anything but our own writer has written since the last look;
    /// on the servers the head tells, and this is always false.
    pub(crate) fn is_foreign(&self, mark: Option<i64>) -> bool {
        mark.is_some_and(|mark| self.mark.swap(mark, Ordering::Relaxed) != mark)
    }

    /// Where everything is written. On SQLite it is one connection that lives
    /// as long as the process, so that what others write can be told from what
    /// we write: a write must take no other way.
    pub fn writer(&self) -> &DatabaseConnection {
        &self.writer
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
        self.reader.close_by_ref().await?;
        self.writer.close_by_ref().await
    }
}

/// Opens the database. A SQLite file is made if it is missing, and its
/// directory too. A bare connection is tried first, since a pool that cannot
/// connect only says that its time ran out.
///
/// # Errors
/// With the real cause when the address is wrong, or the server or the file is
/// out of reach.
pub async fn connect(spec: &ConnectSpec) -> Result<Connection, ConnectError> {
    let (writer, reader) = match spec.backend {
        DbBackend::Sqlite => {
            let (writer, reader) = sqlite::pools(spec).await?;
            (writer.into(), reader.into())
        }
        _ => server(spec).await?,
    };
    open(spec, writer, reader).await
}

/// Opens a database that belongs to another program, to be read through
/// [`Connection::snapshot`] only. A SQLite file has to be there, and none of its
/// settings is changed.
///
/// # Errors
/// As [`connect`].
pub async fn connect_read_only(spec: &ConnectSpec) -> Result<Connection, ConnectError> {
    let (writer, reader) = match spec.backend {
        DbBackend::Sqlite => {
            let pool = sqlite::read_only_pool(spec).await?;
            (pool.clone().into(), pool.into())
        }
        _ => server(spec).await?,
    };
    open(spec, writer, reader).await
}

/// The pool of a server, which serves writing and reading alike.
async fn server(
    spec: &ConnectSpec,
) -> Result<(DatabaseConnection, DatabaseConnection), ConnectError> {
    let pool: DatabaseConnection = match spec.backend {
        DbBackend::Postgres => postgres::pool(spec).await?.into(),
        _ => mariadb::pool(spec).await?.into(),
    };
    Ok((pool.clone(), pool))
}

async fn open(
    spec: &ConnectSpec,
    writer: DatabaseConnection,
    reader: DatabaseConnection,
) -> Result<Connection, ConnectError> {
    let mark = Arc::new(AtomicI64::new(0));
    let connection = Connection { writer, reader, backend: spec.backend, mark };
    // The first look: what was written before is what will be loaded. It takes
    // no lock, so that a database may be opened while another writes.
    let mark = write_mark(&connection.writer)
        .await
        .map_err(|error| ConnectError::Refused { place: spec.place(), cause: error.to_string() })?;
    connection.is_foreign(mark);
    Ok(connection)
}

/// A number that changes when anything but this connection has written the
/// SQLite file; none on the servers.
pub(crate) async fn write_mark<C: ConnectionTrait>(db: &C) -> Result<Option<i64>, DbErr> {
    if db.get_database_backend() != DbBackend::Sqlite {
        return Ok(None);
    }
    let pragma = Statement::from_string(DbBackend::Sqlite, "PRAGMA data_version");
    match db.query_one_raw(pragma).await? {
        Some(row) => row.try_get_by_index(0).map(Some),
        None => Ok(None),
    }
}

/// What all pools have in common. Nothing is asked of a connection before it
/// is used: a dead one shows in its first statement, and the writer tries
/// again.
fn pool_options<D: sqlx::Database>(spec: &ConnectSpec) -> PoolOptions<D> {
    PoolOptions::new().test_before_acquire(false).acquire_timeout(spec.acquire_timeout)
}

/// Connections a server's pool may hold: one runs a migration while another
/// holds the lock on it.
fn server_connections(spec: &ConnectSpec) -> u32 {
    spec.max_connections.max(2)
}

fn address_error(spec: &ConnectSpec, cause: &sqlx::Error) -> ConnectError {
    ConnectError::Address { place: spec.place(), cause: cause.to_string() }
}

/// One connection, opened and closed, for the cause when it fails.
async fn probe<C: sqlx::Connection>(
    spec: &ConnectSpec,
    options: &C::Options,
    patience: Duration,
) -> Result<(), ConnectError> {
    let refused = |cause: String| ConnectError::Refused { place: spec.place(), cause };
    match tokio::time::timeout(patience, C::connect_with(options)).await {
        Ok(Ok(connection)) => {
            // It answered; how it takes its leave does not matter.
            let _ = connection.close().await;
            Ok(())
        }
        Ok(Err(cause)) => Err(refused(cause.to_string())),
        Err(_) => Err(refused(format!("no answer within {patience:?}"))),
    }
}

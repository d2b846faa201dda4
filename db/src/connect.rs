//! Opening the database.

mod mariadb;
mod postgres;
mod sqlite;

pub(crate) use sqlite::WAL_AUTOCHECKPOINT;

use crate::link::{Link, Pooled, Source};
use crate::spec::ConnectSpec;
use sea_orm::sqlx::{self, pool::PoolOptions};
use sea_orm::{
    AccessMode, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel,
    TransactionOptions, TransactionTrait,
};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};

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
    /// Whether batches go straight to a SQLite file, with their values bound.
    takes_bound: bool,
    /// The pool of a server.
    server: Option<Source>,
    pub(crate) link: Arc<Mutex<Link>>,
}

/// The right to write beside the batches, see [`Connection::writer`].
#[derive(Debug)]
pub struct Writer {
    db: DatabaseConnection,
    turn: Option<OwnedMutexGuard<Link>>,
}

impl Deref for Writer {
    type Target = DatabaseConnection;

    fn deref(&self) -> &DatabaseConnection {
        &self.db
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(link) = &mut self.turn {
            link.resume();
        }
    }
}

impl Connection {
    /// Where everything but batches is written. On SQLite whoever writes takes
    /// turns with the batches, until the returned value is dropped, so that what
    /// others write can be told from what we write.
    pub async fn writer(&self) -> Writer {
        let turn = if self.backend == DbBackend::Sqlite {
            let mut link = self.link.clone().lock_owned().await;
            link.yield_turn();
            Some(link)
        } else {
            None
        };
        Writer { db: self.writer.clone(), turn }
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

    pub(crate) fn server(&self) -> Option<&Source> {
        self.server.as_ref()
    }

    pub(crate) fn takes_bound(&self) -> bool {
        self.takes_bound
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
        self.link.lock().await.close();
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
    if spec.backend != DbBackend::Sqlite {
        return server(spec).await;
    }
    let (writer, reader, file) = sqlite::pools(spec).await?;
    let link = match file {
        Some(file) => Link::File(file),
        None => Link::Pooled(Pooled::new(Source::Sqlite(writer.clone()), false, None)),
    };
    Ok(open(spec, link, writer.into(), reader.into(), MOST_BYTES))
}

/// Opens a database that belongs to another program, to be read through
/// [`Connection::snapshot`] only. A SQLite file has to be there, and none of its
/// settings is changed.
///
/// # Errors
/// As [`connect`].
pub async fn connect_read_only(spec: &ConnectSpec) -> Result<Connection, ConnectError> {
    if spec.backend != DbBackend::Sqlite {
        return server(spec).await;
    }
    let pool = sqlite::read_only_pool(spec).await?;
    let link = Link::Pooled(Pooled::new(Source::Sqlite(pool.clone()), false, None));
    let (writer, reader) = (pool.clone().into(), pool.into());
    Ok(open(spec, link, writer, reader, MOST_BYTES))
}

/// A server, whose pool serves writing and reading alike.
async fn server(spec: &ConnectSpec) -> Result<Connection, ConnectError> {
    let (source, most_bytes) = match spec.backend {
        DbBackend::Postgres => (Source::Postgres(postgres::pool(spec).await?), MOST_BYTES),
        _ => {
            let (pool, most_bytes) = mariadb::pool(spec).await?;
            (Source::MariaDb(pool), most_bytes)
        }
    };
    let (writer, reader) = (source.pool(), source.pool());
    let link = Link::Pooled(Pooled::new(source.clone(), true, spec.recycle_time));
    Ok(Connection { server: Some(source), ..open(spec, link, writer, reader, most_bytes) })
}

fn open(
    spec: &ConnectSpec,
    link: Link,
    writer: DatabaseConnection,
    reader: DatabaseConnection,
    most_bytes: usize,
) -> Connection {
    let (backend, takes_bound) = (spec.backend, matches!(link, Link::File(_)));
    let link = Arc::new(Mutex::new(link));
    Connection { writer, reader, backend, most_bytes, takes_bound, server: None, link }
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

/// The pool of a server. It holds two connections at least: one runs a migration
/// while another holds the lock on it. One whose time is up is not given out any
/// more; the pool's own rounds come too rarely to rely on.
fn server_options<D: sqlx::Database>(spec: &ConnectSpec) -> PoolOptions<D> {
    let recycle_time = spec.recycle_time;
    pool_options(spec).max_connections(spec.max_connections.max(2)).before_acquire(
        move |_, meta| {
            let is_young = recycle_time.is_none_or(|time| meta.age < time);
            Box::pin(async move { Ok(is_young) })
        },
    )
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

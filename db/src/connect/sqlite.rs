//! SQLite: the file and its settings.

use super::{ConnectError, STATEMENT_CACHE, address_error, pool_options, probe, refused};
use crate::link::File;
use crate::spec::ConnectSpec;
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteLockingMode, SqlitePool,
    SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{ConnectOptions as _, Connection as _};
use std::path::Path;

/// Pages the write-ahead log may hold before they are moved into the file:
/// four times the default, for fewer pauses (measured).
pub(crate) const WAL_AUTOCHECKPOINT: u32 = 4000;

/// The pool of one connection for what is written beside the batches, the pool
/// of readers, and the batches' own connection. In memory there is one for
/// everything.
pub(super) async fn pools(
    spec: &ConnectSpec,
) -> Result<(SqlitePool, SqlitePool, Option<File>), ConnectError> {
    let options: SqliteConnectOptions =
        spec.url.parse().map_err(|cause| address_error(spec, &cause))?;
    let options = options
        .create_if_missing(true)
        .locking_mode(SqliteLockingMode::Normal)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(if spec.sqlite_synchronous {
            SqliteSynchronous::Full
        } else {
            SqliteSynchronous::Normal
        })
        .busy_timeout(spec.lock_timeout)
        .pragma("wal_autocheckpoint", WAL_AUTOCHECKPOINT.to_string())
        .statement_cache_capacity(STATEMENT_CACHE)
        .disable_statement_logging();
    let in_memory = in_memory(spec);
    if !in_memory {
        find_directory(options.get_filename())?;
        // A file that another process has locked is waited for, and then some.
        let patience = spec.acquire_timeout + spec.lock_timeout;
        let probe = probe::<SqliteConnection>(spec, &options, patience).await?;
        // It answered; how it takes its leave does not matter.
        let _ = probe.close().await;
    }
    let writer = pool_options(spec).max_connections(1).idle_timeout(None).max_lifetime(None);
    if in_memory {
        let only = writer.connect_lazy_with(options);
        return Ok((only.clone(), only, None));
    }
    let path = options.get_filename().to_owned();
    let mut file = File::new(path, spec.lock_timeout, spec.sqlite_synchronous);
    file.make_room();
    // The first look: what was written before is what will be loaded. It takes
    // no lock, so that a database may be opened while another writes.
    file.look().map_err(|error| refused(spec, error))?;
    let writer = between_transactions(writer).connect_lazy_with(options.clone());
    let reader = between_transactions(pool_options(spec))
        .max_connections(spec.max_connections.max(1))
        .connect_lazy_with(options.pragma("query_only", "ON"));
    Ok((writer, reader, Some(file)))
}

/// A pool that closes what comes back to it in the midst of a transaction, which
/// undoes that. When a commit fails, as on a full disk, SQLite may leave the
/// transaction open; whatever followed on that connection would become a part of
/// it, and be answered as committed without ever being kept.
fn between_transactions(options: SqlitePoolOptions) -> SqlitePoolOptions {
    options.after_release(|connection, _| {
        let is_between = !connection.is_in_transaction();
        Box::pin(async move { Ok(is_between) })
    })
}

/// A pool of one connection to a file that is there already and stays as it is.
pub(super) async fn read_only_pool(spec: &ConnectSpec) -> Result<SqlitePool, ConnectError> {
    let options: SqliteConnectOptions =
        spec.url.parse().map_err(|cause| address_error(spec, &cause))?;
    let options = options
        .create_if_missing(false)
        .read_only(true)
        .busy_timeout(spec.lock_timeout)
        .disable_statement_logging();
    probe::<SqliteConnection>(spec, &options, spec.acquire_timeout + spec.lock_timeout).await?;
    Ok(pool_options(spec).max_connections(1).connect_lazy_with(options))
}

pub(super) fn in_memory(spec: &ConnectSpec) -> bool {
    spec.url.contains(":memory:") || spec.url.contains("mode=memory")
}

/// A directory that is not there is a mistake in the address more often than
/// not, and a database made elsewhere would be an empty one.
fn find_directory(file: &Path) -> Result<(), ConnectError> {
    match file.parent() {
        Some(directory) if !directory.as_os_str().is_empty() && !directory.is_dir() => {
            Err(ConnectError::Directory {
                directory: directory.display().to_string(),
                file: file.display().to_string(),
            })
        }
        _ => Ok(()),
    }
}

//! From options to an open ledger.

use crate::{clock, exit::Fault};
use std::{convert::Infallible, ffi::OsString, path::PathBuf, time::Duration};
use stowplan_config::{self as config, DatabaseUrl, PlacementDatabase, Settings};
use stowplan_db::{Backend, ConnectError, ConnectSpec, Connection};
use stowplan_ledger::{Ledger, Limits, OpenError, OpenOptions, Progress};

/// How long another process that holds a server's database is waited for: the
/// server gives up a machine that fell silent within half a minute.
const HOLD_PATIENCE: Duration = Duration::from_secs(45);

/// How to connect to the database of the options.
pub fn spec(settings: &Settings) -> ConnectSpec {
    let options = &settings.placement_database;
    spec_of(&options.connection, options)
}

/// How to connect to another database, as patiently as to that of the options.
pub fn spec_of(url: &DatabaseUrl, options: &PlacementDatabase) -> ConnectSpec {
    let backend = match url.backend {
        config::Backend::Sqlite => Backend::Sqlite,
        config::Backend::Postgres => Backend::Postgres,
        config::Backend::Mysql => Backend::MySql,
    };
    let mut spec = ConnectSpec::new(backend, url.sqlx_url.clone());
    spec.max_connections = options.max_pool_size;
    spec.sqlite_synchronous = options.sqlite_synchronous;
    spec.acquire_timeout = Duration::from_secs(options.pool_timeout.into());
    let recycle_time = options.connection_recycle_time;
    spec.recycle_time = (recycle_time > 0).then(|| Duration::from_secs(recycle_time.into()));
    spec.hold_patience = Some(HOLD_PATIENCE);
    spec
}

/// Connects, again and again while a server does not answer.
pub async fn connect(settings: &Settings) -> Result<Connection, Fault> {
    let spec = spec(settings);
    let may_pass = |error: &ConnectError| matches!(error, ConnectError::Refused { .. });
    again(settings, async || stowplan_db::connect(&spec).await, may_pass).await
}

/// Connects to look only: no SQLite file is made or written.
pub async fn look_at(settings: &Settings) -> Result<Connection, Fault> {
    let spec = spec(settings);
    let may_pass = |error: &ConnectError| matches!(error, ConnectError::Refused { .. });
    again(settings, async || stowplan_db::connect_read_only(&spec).await, may_pass).await
}

/// Does what needs a database's server until that answers
/// (`[placement_database] max_retries`, `retry_interval`).
async fn again<T, E>(
    settings: &Settings,
    mut work: impl AsyncFnMut() -> Result<T, E>,
    may_pass: impl Fn(&E) -> bool,
) -> Result<T, Fault>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let options = &settings.placement_database;
    let is_server = options.connection.backend != config::Backend::Sqlite;
    let mut tries = 0;
    loop {
        let error = match work().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let has_tries_left = options.max_retries < 0 || tries < options.max_retries;
        if !(is_server && may_pass(&error) && has_tries_left) {
            return Err(error.into());
        }
        tries += 1;
        tracing::warn!(%error, tries, "the database does not answer; it is tried again");
        tokio::time::sleep(Duration::from_secs(options.retry_interval.into())).await;
    }
}

/// How to open the ledger, once its database answers and has a schema that may
/// be used.
pub async fn prepared(settings: &Settings) -> Result<OpenOptions, Fault> {
    let options = &settings.placement_database;
    let is_server = options.connection.backend != config::Backend::Sqlite;
    if is_server || !options.sync_on_startup {
        let connection = connect(settings).await?;
        if !options.sync_on_startup {
            demand_current(&connection).await?;
        }
        connection.close().await?;
    }
    Ok(OpenOptions {
        database: spec(settings),
        lock_file: lock_file(settings),
        limits: limits(settings),
    })
}

/// Opens the ledger on the current runtime, with the standard resource classes
/// and traits in it.
pub async fn open(settings: &Settings, progress: &mut dyn Progress) -> Result<Ledger, Fault> {
    let options = prepared(settings).await?;
    let open = async || Ledger::open(options.clone(), progress).await;
    let may_pass = |error: &OpenError| matches!(error, OpenError::Away(_));
    let ledger = again(settings, open, may_pass).await?;
    let now = clock::now();
    let seeded = ledger
        .write("start", move |image| {
            Ok::<_, Infallible>(stowplan_placement::names::seed(image, now))
        })
        .await?;
    if seeded > 0 {
        tracing::info!(names = seeded, "standard resource classes and traits were added");
    }
    Ok(ledger)
}

/// Refuses a schema that is not of this version.
async fn demand_current(connection: &Connection) -> Result<(), Fault> {
    let version = stowplan_db::schema_version(connection).await?;
    if version.is_current() {
        return Ok(());
    }
    Err(anyhow::anyhow!(
        "the database lacks {} and [placement_database] sync_on_startup is off: run `stowplan db \
         sync` first",
        version.pending.join(", ")
    )
    .into())
}

/// The file beside a SQLite database that keeps other processes away.
fn lock_file(settings: &Settings) -> Option<PathBuf> {
    let path = settings.placement_database.connection.path.as_ref()?;
    let mut name = OsString::from(path);
    name.push(".lock");
    Some(name.into())
}

/// The bounds of the ledger's writer.
pub fn limits(settings: &Settings) -> Limits {
    let options = &settings.ledger;
    Limits {
        batch_size: usize::try_from(options.batch_max_mutations).unwrap_or(usize::MAX),
        batch_time: Duration::from_millis(options.batch_max_ms),
        linger: Duration::from_micros(options.linger_us),
        retries: options.commit_retries,
        queue: usize::try_from(options.max_waiting).unwrap_or(usize::MAX),
    }
}

//! `stowplan db`: the database's schema.

use crate::{
    cli::ConfigArgs,
    database,
    exit::{Fault, Outcome},
    import::Import,
    out::outln,
};
use clap::Subcommand;
use stowplan_config::Settings;
use stowplan_db::Connection;

/// What can be done with the database.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the schema, or bring it up to date. May be run again at any time.
    #[command(after_help = "Example:\n  stowplan db sync \
        --set placement_database.connection=postgresql://stowplan:secret@db/stowplan")]
    Sync(ConfigArgs),
    /// Say which migrations the database has had and which it lacks.
    #[command(after_help = "Ends with exit code 1 if the schema is not of this version.")]
    Version(ConfigArgs),
    /// Take over the database of an openstack-placement, whole.
    Import(Import),
}

impl Command {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        match &self {
            Self::Sync(config) => {
                let settings = config.load()?.settings;
                on_database(&settings, async |it| database::connect(it).await, sync)
            }
            Self::Version(config) => {
                let settings = config.load()?.settings;
                let file = settings.placement_database.connection.path.as_deref();
                if file.is_some_and(|file| !file.exists()) {
                    outln!("{}", settings.placement_database.connection.redacted());
                    outln!("there is no database: run `stowplan db sync`{}", hint(&settings));
                    return Ok(Outcome::CheckFailed);
                }
                on_database(&settings, async |it| database::look_at(it).await, version)
            }
            Self::Import(import) => import.run(),
        }
    }
}

/// Connects, says to what, works, and disconnects.
fn on_database(
    settings: &Settings,
    connect: impl AsyncFnOnce(&Settings) -> Result<Connection, Fault>,
    work: impl AsyncFnOnce(&Settings, &Connection) -> Result<Outcome, Fault>,
) -> Result<Outcome, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let connection = connect(settings).await?;
        outln!("{}", settings.placement_database.connection.redacted());
        let outcome = work(settings, &connection).await;
        connection.close().await?;
        outcome
    })
}

async fn sync(_: &Settings, connection: &Connection) -> Result<Outcome, Fault> {
    let mut steps = 0;
    let version = stowplan_db::migrate(connection, |step| {
        steps += 1;
        outln!("{}/{} {}", step.number, step.total, step.name);
    })
    .await?;
    let last = version.applied.last().map_or("no migration", String::as_str);
    outln!("{steps} migrations run, the schema is at {last}");
    Ok(Outcome::Fine)
}

async fn version(settings: &Settings, connection: &Connection) -> Result<Outcome, Fault> {
    let version = stowplan_db::schema_version(connection).await?;
    for name in &version.applied {
        outln!("applied  {name}");
    }
    for name in &version.pending {
        outln!("pending  {name}");
    }
    if version.is_current() {
        outln!("the schema is of this version");
        return Ok(Outcome::Fine);
    }
    outln!("the schema is not of this version: run `stowplan db sync`{}", hint(settings));
    Ok(Outcome::CheckFailed)
}

fn hint(settings: &Settings) -> &'static str {
    if settings.placement_database.sync_on_startup { ", or just serve" } else { "" }
}

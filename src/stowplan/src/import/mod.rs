//! `stowplan db import`: the books of an openstack-placement database taken
//! over whole.
//!
//! The peer's tables are read in one snapshot ([`peer`]), every row is checked
//! ([`findings`]) and becomes a record of the ledger, and all records go into an
//! empty ledger in one transaction, which is committed once the counts and sums
//! of both sides agree ([`books`]).

mod books;
mod consumers;
mod findings;
mod names;
mod peer;
mod providers;
mod ranges;
mod report;
mod times;
mod uuids;

use crate::{
    bar,
    cli::ConfigArgs,
    clock, database,
    exit::{Fault, Outcome},
    out::Format,
};
use anyhow::Context as _;
use books::Books;
use clap::Args;
use consumers::Consumers;
use findings::Findings;
use indicatif::ProgressBar;
use names::Names;
use peer::Peer;
use providers::Providers;
use report::{Count, Report};
use std::time::Instant;
use stowplan_config::{DatabaseUrl, Settings};
use stowplan_ledger::{FillError, Filling, Progress, Record};
use times::Times;

const HELP: &str = "\
The address is that of [placement_database] connection in placement.conf. The
database is read in one snapshot and not changed; what is imported stays as it
is: uuids, names, generations, times (but those of inventories, which are not
kept), types, projects and users. Stop openstack-placement first, or what it
writes later is not in the ledger. The database of stowplan must be empty and
its service must not run: either all is imported, or nothing.

Ends with exit code 1 if the database is refused, with all reasons.

Examples:
  stowplan db import --dry-run --from sqlite:////var/lib/placement/placement.sqlite
  stowplan db import --config /etc/stowplan/scheduler.conf \\
      --from 'mysql+pymysql://placement:secret@db/placement?charset=utf8'
  stowplan db import --from postgresql://placement:secret@db/placement --format json";

/// What is imported from where, and how it is told.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Import {
    /// Address of the openstack-placement database.
    #[arg(long, value_name = "URL")]
    from: String,
    /// Read and check only: nothing is written.
    #[arg(long)]
    dry_run: bool,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Import {
    /// Does it.
    pub fn run(&self) -> Result<Outcome, Fault> {
        let from = self.source()?;
        let settings = self.config.load()?.settings;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let report = runtime.block_on(self.import(&from, &settings))?;
        match self.format {
            Format::Table => report.print_table(),
            Format::Json => report.print_json()?,
        }
        let is_fine = report.refused.is_none() && report.faults.is_empty();
        Ok(if is_fine { Outcome::Fine } else { Outcome::CheckFailed })
    }

    /// The address, checked; no error shows it, for it holds a password.
    fn source(&self) -> Result<DatabaseUrl, Fault> {
        let problem = |text: String| Fault::usage(anyhow::anyhow!("--from: {text}"));
        let url: DatabaseUrl = self
            .from
            .parse()
            .map_err(|error: stowplan_config::Problem| problem(error.to_string()))?;
        if url.backend == stowplan_config::Backend::Sqlite && url.path.is_none() {
            return Err(problem(
                "expected the file of a SQLite database, as sqlite:////path".into(),
            ));
        }
        Ok(url)
    }

    async fn import(&self, from: &DatabaseUrl, settings: &Settings) -> Result<Report, Fault> {
        let began = Instant::now();
        let mut report = Report {
            from: from.redacted().to_owned(),
            to: settings.placement_database.connection.redacted().to_owned(),
            dry_run: self.dry_run,
            imported: false,
            refused: None,
            rows: Vec::new(),
            notes: Vec::new(),
            faults: Vec::new(),
            seconds: 0.0,
        };
        let peer = Peer::open(&database::spec_of(from, &settings.placement_database)).await?;
        report.refused = peer.objection().await.context("looking at the schema")?;
        if report.refused.is_none() {
            self.take_over(&peer, settings, &mut report).await?;
        }
        peer.close().await?;
        report.seconds = began.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Reads everything, and writes it as long as nothing is wrong.
    async fn take_over(
        &self,
        peer: &Peer,
        settings: &Settings,
        report: &mut Report,
    ) -> Result<(), Fault> {
        let mut filling = if self.dry_run {
            None
        } else {
            match Filling::begin(database::prepared(settings).await?).await {
                Ok(filling) => Some(filling),
                Err(error @ FillError::NotEmpty { .. }) => {
                    report.refused = Some(error.to_string());
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        };
        let times = Times { now: clock::now() };
        let mut findings = Findings::default();
        report.rows = count(peer).await?;
        let total: u64 = report.rows.iter().map(|count| count.rows).sum();
        let bar = bar::progress("rows", usize::try_from(total).unwrap_or(usize::MAX));

        let (names, records) = Names::read(peer, times, &mut findings).await?;
        put(&mut filling, records, &findings, &bar).await?;
        let (providers, records) = Providers::read(peer, &names, times, &mut findings).await?;
        put(&mut filling, records, &findings, &bar).await?;
        let mut consumers = Consumers::new(peer, &names, &providers, times);
        while let Some(page) = consumers.next(&mut findings).await? {
            if let (Some(filling), true) = (&mut filling, findings.are_fine()) {
                filling.put_consumers(page.rows).await?;
            }
            bar.inc(page.read as u64);
        }
        consumers.finish(&mut findings).await?;
        bar.finish_and_clear();

        let is_fine = findings.are_fine();
        let (faults, notes) = findings.told();
        report.faults = faults;
        report.notes = notes.into_iter().map(|(what, rows)| Count { what, rows }).collect();
        match filling {
            Some(filling) if is_fine => conclude(peer, filling, report).await,
            Some(filling) => Ok(filling.give_up().await?),
            None => Ok(()),
        }
    }
}

async fn put(
    filling: &mut Option<Filling>,
    records: Vec<Record>,
    findings: &Findings,
    bar: &ProgressBar,
) -> Result<(), Fault> {
    let read = records.len() as u64;
    if let (Some(filling), true) = (filling, findings.are_fine()) {
        filling.put(records).await?;
    }
    bar.inc(read);
    Ok(())
}

/// Compares the books of both sides, and commits if they are the same.
async fn conclude(peer: &Peer, filling: Filling, report: &mut Report) -> Result<(), Fault> {
    let filled = filling.load(&mut Loading::default()).await?;
    let differences = Books::of_peer(peer).await?.differences(&Books::of_image(filled.image()));
    if let Some(first) = differences.first() {
        report.refused = Some(format!(
            "{} counts or sums differ between the original and what was read from it, the first \
             is {first}",
            differences.len()
        ));
        return Ok(filled.give_up().await?);
    }
    filled.commit().await?;
    report.imported = true;
    Ok(())
}

/// What grows with a cloud, by table.
async fn count(peer: &Peer) -> anyhow::Result<Vec<Count>> {
    const TABLES: [(&str, &str); 8] = [
        ("resource classes", "resource_classes"),
        ("traits", "traits"),
        ("resource providers", "resource_providers"),
        ("inventories", "inventories"),
        ("traits of providers", "resource_provider_traits"),
        ("aggregates of providers", "resource_provider_aggregates"),
        ("consumers", "consumers"),
        ("allocations", "allocations"),
    ];
    let mut counts = Vec::with_capacity(TABLES.len());
    for (what, table) in TABLES {
        counts.push(Count { what, rows: peer.count(table).await? });
    }
    Ok(counts)
}

/// Shows how far the loading is.
#[derive(Default)]
struct Loading(Option<ProgressBar>);

impl Progress for Loading {
    fn rows(&mut self, done: u64, total: u64) {
        let steps = usize::try_from(total).unwrap_or(usize::MAX);
        self.0.get_or_insert_with(|| bar::progress("read again", steps)).set_position(done);
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

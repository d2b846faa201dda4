//! `stowplan replay`: a recorded workload, put to a running server over REST,
//! and the server's books held against ours.

mod ask;
mod books;
mod cluster;
mod events;
mod openb;
mod report;
mod run;

use crate::{
    bar::progress,
    exit::{Fault, Outcome},
    heartbeats::Heartbeats,
    http::Client,
    out::{Format, outln},
};
use anyhow::{anyhow, bail};
use books::Books;
use clap::{Args, ValueEnum};
use cluster::Cluster;
use events::What;
use report::{Proof, Report};
use run::{Play, Tally};
use std::path::PathBuf;

const HELP: &str = "\
The nodes are reported as hosts and kept alive by heartbeats; each task is asked
for in order of creation and released at its deletion time, events in strict
order of time, the time between them left out unless --speed says otherwise.
One unit of VCPU stands for a thousandth of a core, so that nothing is rounded;
each GPU is a child provider with CUSTOM_GPU_MILLI 1000 and a trait of its
model. The server must be empty: start one with a fresh database.

Ends with exit code 1 if a provider is above its capacity, a placement is not
what was asked for, usages are not the sum of live claims, or, with --verify, a
task was refused although there was room for it.

Example:
  stowplan serve --set placement_database.connection=sqlite:////tmp/fresh.db &
  stowplan replay --url http://127.0.0.1:8778 --format openb --verify \\
      --nodes node_list.csv --tasks pod_list.csv";

/// What is replayed, where, and how.
#[derive(Debug, Args)]
#[command(about = "Drive a running server with a recorded workload and prove its books",
    after_help = HELP)]
pub struct Replay {
    /// Where the server is.
    #[arg(long, default_value = "http://127.0.0.1:8778")]
    url: String,
    /// The token that it accepts.
    #[arg(long, default_value = "admin")]
    token: String,
    /// The form of the files.
    #[arg(long, value_enum, default_value_t = Recording::Openb)]
    format: Recording,
    /// The nodes.
    #[arg(long, value_name = "FILE")]
    nodes: PathBuf,
    /// The tasks.
    #[arg(long, value_name = "FILE")]
    tasks: PathBuf,
    /// The first so many tasks alone, by time of creation.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Seconds of the recording in one second [default: as fast as it goes].
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    speed: Option<f64>,
    /// Look for room at every node and GPU, in books of our own, whenever a
    /// task is refused.
    #[arg(long)]
    verify: bool,
    /// Requests under way at once. More than one may be answered in another
    /// order than that of time.
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// How to print what came of it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Forms of recordings.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Recording {
    /// Two CSV files, of nodes (sn, cpu_milli, memory_mib, gpu, model) and of
    /// tasks (name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, ...,
    /// creation_time, deletion_time).
    Openb,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

impl Replay {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        if self.verify && self.concurrency > 1 {
            return Err(Fault::Usage(anyhow!(
                "--verify needs --concurrency 1: what is free at the moment of a refusal is known \
                 only while nothing else is under way"
            )));
        }
        let (nodes, mut tasks) = match self.format {
            Recording::Openb => (
                openb::nodes(&self.nodes).map_err(Fault::Usage)?,
                openb::tasks(&self.tasks).map_err(Fault::Usage)?,
            ),
        };
        tasks.truncate(self.limit.unwrap_or(usize::MAX));
        let client = Client::new(&self.url, &self.token).map_err(Fault::Usage)?;
        let report = self.play(&client, nodes, &tasks)?;
        match self.output {
            Format::Table => report.print(),
            Format::Json => outln!("{:#}", report.json()),
        }
        Ok(report.outcome())
    }

    fn play(
        &self,
        client: &Client,
        nodes: Vec<openb::Node>,
        tasks: &[openb::Task],
    ) -> anyhow::Result<Report> {
        let bar = progress("reporting nodes", nodes.len());
        let cluster = Cluster::report(client, &nodes, || bar.inc(1))?;
        bar.finish_and_clear();
        let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
        let _alive = Heartbeats::start(client, &names)?;
        let models = nodes.iter().map(|node| node.model.clone()).filter(|model| !model.is_empty());
        let models = models.collect();
        let books = Books::new(nodes);
        if let Some(difference) = cluster.differences(client, &books)?.first() {
            bail!("the server holds claims already, start one with a fresh database: {difference}");
        }

        let events = events::events(tasks);
        let last_arrival = events.iter().rposition(|event| event.what == What::Begins);
        let (coming, going) = events.split_at(last_arrival.map_or(0, |last| last + 1));
        let bar = progress("replaying", events.len());
        let play = Play {
            client,
            cluster: &cluster,
            tasks,
            models: &models,
            concurrency: usize::from(self.concurrency),
            speed: self.speed,
            verify: self.verify,
            bar: &bar,
        };
        let node_count = books.nodes().len();
        let mut tally = Tally::new(books, tasks.len());
        let mut proofs = Vec::new();
        for (when, events) in [("last arrival", coming), ("end", going)] {
            tally = run::play(&play, events, tally)?;
            proofs.push(Proof {
                when,
                providers: cluster.providers(),
                differences: cluster.differences(client, &tally.books)?,
                used: tally.books.used(),
            });
        }
        bar.finish_and_clear();
        Ok(Report { nodes: node_count, tasks: tasks.len(), verified: self.verify, tally, proofs })
    }
}

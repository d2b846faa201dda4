//! How fast the Placement API and the placing of servers are over HTTP, beside another server if one is
//! named, and whether the books are right afterwards.
//!
//! `cargo run --release -p stowplan-load -- --help`

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod books;
mod cloud;
mod jobs;
mod load;
mod rows;
mod servers;
mod show;
mod wire;

use books::Books;
use clap::Parser;
use cloud::{Cloud, Shape};
use std::{process::ExitCode, time::Duration};
use stowplan_tests::Builder;
use wire::Target;

/// Measures the Placement API, or the placing of servers: a cloud is made by
/// REST, every row is timed, and at the end what is in use must equal what was
/// accepted.
#[derive(Debug, Parser)]
struct Arguments {
    /// Root providers of the cloud.
    #[arg(long, default_value_t = 1000)]
    providers: usize,
    /// flat: one provider each; nested: trees of seven; sharing: computes that
    /// share disks by the hundred; hosts: what compute services report, for
    /// servers to be placed on; jobs: such hosts, for batch jobs.
    #[arg(long, value_enum, default_value_t = Shape::Flat)]
    shape: Shape,
    /// Seconds a row.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// The server to measure, empty and with token `admin`; without one a
    /// server is started on SQLite, which waits for the disk.
    #[arg(long)]
    url: Option<String>,
    /// The process ids of that server, for CPU time per operation.
    #[arg(long, value_delimiter = ',', requires = "url")]
    pids: Vec<u32>,
    /// Options of the server that is started, such as
    /// `placement_database.connection=URL`.
    #[arg(long = "set", conflicts_with = "url")]
    set: Vec<String>,
    /// Another server, empty too, that every row is put to in turn.
    #[arg(long)]
    beside: Option<String>,
    /// The process ids of the other server.
    #[arg(long, value_delimiter = ',', requires = "beside")]
    beside_pids: Vec<u32>,
    /// Only rows whose name contains this text.
    #[arg(long)]
    only: Option<String>,
    /// One JSON object a row instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (_own, url, pids) = match &arguments.url {
        Some(url) => (None, url.clone(), arguments.pids.clone()),
        None => {
            let mut builder = Builder::new().set("placement_database.sqlite_synchronous=true");
            for assignment in &arguments.set {
                builder = builder.set(assignment);
            }
            let server = builder.start();
            let (url, pid) = (server.url().to_owned(), server.pid());
            (Some(server), url, vec![pid])
        }
    };
    let mut targets = vec![(Target::new(&url, pids), Books::default())];
    if let Some(url) = &arguments.beside {
        targets.push((Target::new(url, arguments.beside_pids.clone()), Books::default()));
    }
    let cloud = Cloud::new(arguments.shape, arguments.providers);
    let time = Duration::from_secs_f64(arguments.seconds);
    let rows = rows::of(&cloud);
    let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));

    let mut show = show::Show::new(arguments.json, targets.len());
    for row in rows.iter().filter(|row| row.needed || wanted(&row.name)) {
        let measured = targets.iter_mut().map(|(target, books)| {
            let before = target.cpu();
            let mut figures = (row.run)(&cloud, target, books, time);
            figures.cpu = target.cpu().zip(before).map(|(now, before)| now - before);
            figures
        });
        show.row(&row.name, &measured.collect::<Vec<_>>());
    }
    let faults: Vec<String> =
        targets.iter().flat_map(|(target, books)| books.faults(&cloud, target)).collect();
    show.end(&faults);
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! `stowplan shadow report`: how far a server in shadow mode agrees with the
//! scheduler that answers.

use super::server::Server;
use crate::{
    exit::{Fault, Outcome},
    out::{Format, outln},
    table,
};
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::Value;

/// What is done.
#[derive(Debug, Subcommand)]
pub enum Shadow {
    /// Show how many servers were decided alike, and why others were not.
    Report(Report),
}

/// Which report, and where.
#[derive(Debug, Args)]
pub struct Report {
    #[command(flatten)]
    server: Server,
    /// Differences that are shown, the newest first.
    #[arg(long, default_value_t = 100)]
    limit: u32,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Deserialize)]
struct Found {
    agreed: u64,
    differed: u64,
    differences: Vec<Difference>,
}

#[derive(Debug, Deserialize)]
struct Difference {
    request_id: String,
    instance_uuid: String,
    ours: Option<Spot>,
    theirs: Option<Spot>,
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Spot {
    host: String,
}

impl Shadow {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        let Self::Report(report) = self;
        let path = format!("/v1/shadow?limit={}", report.limit);
        let answer = report.server.client()?.get(&path)?.demand()?;
        match report.format {
            Format::Json => outln!("{}", serde_json::to_string_pretty(&answer.json::<Value>()?)?),
            Format::Table => show(&answer.json()?),
        }
        Ok(Outcome::Fine)
    }
}

fn show(found: &Found) {
    let all = found.agreed + found.differed;
    let share = if all == 0 { 0.0 } else { found.agreed as f64 * 100.0 / all as f64 };
    outln!("{all} servers: {} alike ({share:.1} %), {} not", found.agreed, found.differed);
    if found.differences.is_empty() {
        return;
    }
    let mut table = table::with_header(["request", "server", "ours", "theirs", "why"]);
    let host = |spot: &Option<Spot>| spot.as_ref().map_or("-".to_owned(), |spot| spot.host.clone());
    for difference in &found.differences {
        table.add_row([
            difference.request_id.clone(),
            difference.instance_uuid.clone(),
            host(&difference.ours),
            host(&difference.theirs),
            difference.reason.clone().unwrap_or_default(),
        ]);
    }
    outln!("{table}");
}

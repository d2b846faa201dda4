//! `stowplan snapshot`: a running server's cloud as a file.

use super::server::Server;
use crate::{
    exit::{Fault, Outcome},
    out::outln,
};
use anyhow::anyhow;
use clap::{Args, ValueEnum};

const HELP: &str = "\
Example:
  stowplan snapshot > cloud.json
  stowplan snapshot --form batch > batch.json && stowplan evaluate batch.json
  stowplan explain req-9c1f0f1e-3c0a-4f0e-9a44-6b0b1c8a3a11 --format json > decision.json
  stowplan evaluate --snapshot cloud.json decision.json";

/// What is exported.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Snapshot {
    /// What it is for: requests for servers, or a cycle of batch scheduling,
    /// which `stowplan evaluate` runs.
    #[arg(long, value_enum, default_value_t = Form::Cloud)]
    form: Form,
    #[command(flatten)]
    server: Server,
}

/// A form of export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Hosts and providers.
    Cloud,
    /// Hosts, queues and jobs.
    Batch,
}

impl Snapshot {
    /// Prints it.
    pub fn run(self) -> Result<Outcome, Fault> {
        let answer = self.server.client()?.get(match self.form {
            Form::Cloud => "/v1/snapshot",
            Form::Batch => "/v1/snapshot?form=batch",
        })?;
        if (400..500).contains(&answer.status) {
            return Err(Fault::Usage(anyhow!("{}", answer.complaint())));
        }
        outln!("{}", answer.demand()?.text());
        Ok(Outcome::Fine)
    }
}

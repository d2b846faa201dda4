//! `stowplan snapshot`: a running server's cloud as a file.

use super::server::Server;
use crate::{
    exit::{Fault, Outcome},
    out::outln,
};
use anyhow::anyhow;
use clap::Args;

const HELP: &str = "\
Example:
  stowplan snapshot > cloud.json
  stowplan explain req-9c1f0f1e-3c0a-4f0e-9a44-6b0b1c8a3a11 --format json > decision.json
  stowplan evaluate --snapshot cloud.json decision.json";

/// What is exported.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Snapshot {
    #[command(flatten)]
    server: Server,
}

impl Snapshot {
    /// Prints it.
    pub fn run(self) -> Result<Outcome, Fault> {
        let answer = self.server.client()?.get("/v1/snapshot")?;
        if (400..500).contains(&answer.status) {
            return Err(Fault::Usage(anyhow!("{}", answer.complaint())));
        }
        outln!("{}", answer.demand()?.text());
        Ok(Outcome::Fine)
    }
}

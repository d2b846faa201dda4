//! `stowplan explain`: why a running server answers as it does.

mod candidates;
mod decision;

use super::server::Asked;
use crate::exit::{Fault, Outcome};
use anyhow::anyhow;
use candidates::Candidates;
use clap::{Args, Subcommand};

const HELP: &str = "\
Examples:
  stowplan explain req-9c1f0f1e-3c0a-4f0e-9a44-6b0b1c8a3a11
  stowplan explain 01990a5e-8d0c-7a3e-9f51-0d6b1f6a2c44 --format json
  stowplan explain candidates 'resources=VCPU:8'";

/// A decision to explain, or something else.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = HELP)]
pub struct Explain {
    /// Id of a decision, or of the request that asked for it (the
    /// X-Openstack-Request-Id of its answer): then its last decision.
    id: Option<String>,
    #[command(flatten)]
    asked: Asked,
    #[command(subcommand)]
    other: Option<Other>,
}

/// What else can be explained.
#[derive(Debug, Subcommand)]
enum Other {
    /// Say what each requirement of a query of allocation candidates leaves,
    /// and which one stands in the way.
    Candidates(Candidates),
}

impl Explain {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        match (self.other, self.id) {
            (Some(Other::Candidates(candidates)), _) => candidates.run(),
            (None, Some(id)) => decision::explain(&id, &self.asked),
            (None, None) => Err(Fault::Usage(anyhow!(
                "explain what? expected the id of a decision or of a request, or candidates"
            ))),
        }
    }
}

//! `stowplan config`: the configuration file, written, checked and shown.

use crate::{
    checked,
    cli::ConfigArgs,
    exit::{Fault, Outcome},
    out::outln,
};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use stowplan_config::{Report, ShowFormat, Sources};

/// What can be done with a configuration.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print a configuration file with every option, its help and its default.
    #[command(after_help = "Example:\n  stowplan config sample > scheduler.conf")]
    Sample,
    /// Check a configuration: all that is wrong with it, and what is odd.
    #[command(after_help = "Ends with exit code 2 if anything is wrong.\n\n\
        Example:\n  stowplan config check /etc/nova/nova.conf")]
    Check(Named),
    /// Print every option with the value in force and where it comes from.
    #[command(after_help = "Example:\n  \
        stowplan config show scheduler.conf --format json | jq .api.bind_port")]
    Show {
        /// How to print it.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        #[command(flatten)]
        named: Named,
    },
}

/// A configuration, whose files may be named without `--config` here.
#[derive(Debug, Args)]
pub struct Named {
    #[command(flatten)]
    config: ConfigArgs,
    /// Configuration files, as with --config.
    #[arg(value_name = "FILE")]
    named: Vec<PathBuf>,
}

impl Named {
    fn sources(&self) -> Sources {
        self.config.clone().with_files(&self.named).sources()
    }
}

/// How values are printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// As a configuration file, the origin in a comment.
    Text,
    /// As one JSON object.
    Json,
}

impl Command {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        match self {
            Self::Sample => {
                outln!("{}", stowplan_config::render_sample().trim_end());
                Ok(Outcome::Fine)
            }
            Self::Check(named) => conclude(stowplan_config::check(checked::load(&named.sources()))),
            Self::Show { format, named } => {
                let format = match format {
                    Format::Text => ShowFormat::Text,
                    Format::Json => ShowFormat::Json,
                };
                conclude(stowplan_config::show(&named.sources(), format))
            }
        }
    }
}

fn conclude(report: Report) -> Result<Outcome, Fault> {
    if report.is_ok {
        outln!("{}", report.text.trim_end());
        return Ok(Outcome::Fine);
    }
    Err(Fault::usage(anyhow::anyhow!(
        "the configuration does not hold\n{}",
        report.text.trim_end()
    )))
}

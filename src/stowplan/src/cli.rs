//! The command line.

use crate::{
    commands::{
        config, db, explain::Explain, job::Job, queue::Queue, shadow::Shadow, snapshot::Snapshot,
    },
    demo::Demo,
    evaluate::Evaluate,
    exit::{self, Fault, Outcome},
    replay::Replay,
    serve,
};
use clap::{Args, Parser, Subcommand};
use std::path::{Path, PathBuf};
use stowplan_config::{Loaded, Settings, Sources};

/// Read when no other file is named, if it is there.
const DEFAULT_FILE: &str = "/etc/stowplan/scheduler.conf";

/// Places virtual machines and batch jobs on the hosts of a cloud.
#[derive(Debug, Parser)]
#[command(version, after_help = exit::HELP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the Placement API and stowplan's own.
    #[command(after_help = serve::HELP)]
    Serve(ConfigArgs),
    /// Place a made-up cloud on this machine and look at it.
    Demo(Demo),
    /// Make, upgrade or look at the database.
    #[command(subcommand)]
    Db(db::Command),
    /// Write a sample of the configuration file, or check and show one.
    #[command(subcommand)]
    Config(config::Command),
    /// Ask a running server why it answers as it does.
    Explain(Explain),
    /// Compare a server in shadow mode with the scheduler that answers.
    #[command(subcommand)]
    Shadow(Shadow),
    /// Submit batch jobs to a running server, look at them, and steer them.
    Job(Job),
    /// Look at queues of batch jobs, and change them.
    Queue(Box<Queue>),
    /// Print a running server's cloud, to be put into a file.
    Snapshot(Snapshot),
    /// Run filters and weighers offline on scenarios in files.
    Evaluate(Evaluate),
    /// Drive a running server with a recorded workload and prove its books.
    Replay(Replay),
}

impl Command {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        match self {
            Self::Serve(args) => serve::run(&args),
            Self::Demo(demo) => demo.run(),
            Self::Db(command) => command.run(),
            Self::Config(command) => command.run(),
            Self::Explain(explain) => explain.run(),
            Self::Shadow(shadow) => shadow.run(),
            Self::Job(job) => job.run(),
            Self::Queue(queue) => queue.run(),
            Self::Snapshot(snapshot) => snapshot.run(),
            Self::Evaluate(evaluate) => evaluate.run(),
            Self::Replay(replay) => replay.run(),
        }
    }
}

/// Where the configuration comes from.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Configuration file; may be given more than once, the later wins
    /// [default: /etc/stowplan/scheduler.conf if it is there].
    #[arg(long = "config", visible_alias = "config-file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Folder of which all *.conf files are read, in the order of their names.
    #[arg(long = "config-dir", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Set one option, over files and environment; may be given more than once.
    #[arg(long, value_name = "SECTION.OPTION=VALUE")]
    set: Vec<String>,
}

impl ConfigArgs {
    /// The same with further files.
    pub fn with_files(mut self, files: &[PathBuf]) -> Self {
        self.files.extend_from_slice(files);
        self
    }

    /// Defaults, files, environment (`OS_<SECTION>__<OPTION>`), `--set`.
    pub fn sources(&self) -> Sources {
        let mut sources = Sources::new();
        if self.files.is_empty() && self.folders.is_empty() && Path::new(DEFAULT_FILE).exists() {
            sources = sources.file(DEFAULT_FILE);
        }
        self.complete(sources).process_environment()
    }

    /// Defaults, files that are named, `--set`: the same on every machine.
    pub fn named_sources(&self) -> Sources {
        self.complete(Sources::new())
    }

    /// What `--set` says.
    pub fn set(&self) -> &[String] {
        &self.set
    }

    fn complete(&self, sources: Sources) -> Sources {
        let sources = self.files.iter().fold(sources, Sources::file);
        let sources = self.folders.iter().fold(sources, Sources::folder);
        self.set.iter().fold(sources, Sources::set)
    }

    /// The configuration, read and checked.
    pub fn load(&self) -> Result<Loaded, Fault> {
        Settings::load(&self.sources()).map_err(Fault::usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}

//! How the process ends: the codes that scripts rely on.

use std::{fmt, process::ExitCode};

/// The table of exit codes, as `--help` shows it.
pub const HELP: &str = "\
Exit codes:
  0  done
  1  a check did not hold
  2  wrong usage or configuration
  3  the database cannot be used
  4  anything else, such as an address in use or a server that does not answer";

/// How a command that could be carried out came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Fine,
    /// It looked, and what it looked for does not hold.
    CheckFailed,
}

/// Why a command could not be carried out: decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Wrong usage, or a configuration that does not hold.
    Usage,
    /// The database cannot be opened, or is not of this version.
    Database,
    /// Anything else.
    Other,
}

/// What stopped a command.
#[derive(Debug)]
pub struct Fault {
    kind: Kind,
    error: anyhow::Error,
}

impl Fault {
    /// The caller's or the configuration's fault.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { kind: Kind::Usage, error: error.into() }
    }

    /// The database's.
    pub fn database(error: impl Into<anyhow::Error>) -> Self {
        Self { kind: Kind::Database, error: error.into() }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self { kind: Kind::Other, error: error.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

/// Says what stopped a command, and gives the exit code.
pub fn conclude(result: Result<Outcome, Fault>) -> ExitCode {
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(fault) => {
            eprintln!("stowplan: {fault}");
            ExitCode::from(match fault.kind {
                Kind::Usage => 2,
                Kind::Database => 3,
                Kind::Other => 4,
            })
        }
    }
}

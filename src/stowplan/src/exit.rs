//! How the process ends: the codes that scripts rely on.

use std::process::ExitCode;

/// The table of exit codes, as `--help` shows it.
pub const HELP: &str = "\
Exit codes:
  0  done
  1  a check did not hold
  2  wrong usage or configuration
  3  the service or its database could not be started or reached";

/// How a command that could be carried out came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Fine,
    /// It looked, and what it looked for does not hold.
    CheckFailed,
}

/// What stopped a command.
#[derive(Debug)]
pub enum Fault {
    /// Wrong usage, or a configuration that does not hold.
    Usage(anyhow::Error),
    /// Something could not be started or reached.
    Service(anyhow::Error),
}

impl Fault {
    /// The caller's or the configuration's fault.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::Usage(error.into())
    }
}

impl<E: Into<anyhow::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// Says what stopped a command, and gives the exit code.
pub fn conclude(result: Result<Outcome, Fault>) -> ExitCode {
    let (code, error) = match result {
        Ok(Outcome::Fine) => return ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => return ExitCode::from(1),
        Err(Fault::Usage(error)) => (2, error),
        Err(Fault::Service(error)) => (3, error),
    };
    eprintln!("stowplan: {}", told(&error));
    ExitCode::from(code)
}

/// An error with its causes, each once: many a text holds that of its cause.
fn told(error: &anyhow::Error) -> String {
    let mut told = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn each_cause_is_told_once() {
        let error = anyhow!("no such plugin").context("[batch] tiers: no such plugin");
        assert_eq!(told(&error.context("batch jobs")), "batch jobs: [batch] tiers: no such plugin");
        assert_eq!(told(&anyhow!("denied").context("cannot read a")), "cannot read a: denied");
    }
}

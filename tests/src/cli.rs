//! The binary, run as a command to its end.

use crate::binary;
use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

/// A command line of the binary.
#[derive(Debug)]
pub struct Cli(Command);

/// What a command said and how it ended.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl Cli {
    /// `stowplan` with these arguments, without any option from the
    /// environment.
    #[must_use]
    pub fn new<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Self {
        Self::of(Command::new(binary()), arguments)
    }

    /// The same out of a shell in which a command has run before.
    #[must_use]
    pub fn in_shell<S: AsRef<OsStr>>(before: &str, arguments: impl IntoIterator<Item = S>) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{before}; exec \"$@\""), "sh"]).arg(binary());
        Self::of(shell, arguments)
    }

    fn of<S: AsRef<OsStr>>(mut command: Command, arguments: impl IntoIterator<Item = S>) -> Self {
        command.args(arguments).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("OS_") {
                command.env_remove(name);
            }
        }
        Self(command)
    }

    /// Runs it in this folder.
    #[must_use]
    pub fn inside(mut self, folder: impl AsRef<Path>) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// With a variable in its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run(mut self) -> Output {
        let output = self.0.output().expect("the binary runs");
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("printed text"),
            stderr: String::from_utf8(output.stderr).expect("printed text"),
        }
    }

    /// The command, to be started by other means.
    #[must_use]
    pub fn into_command(self) -> Command {
        self.0
    }
}

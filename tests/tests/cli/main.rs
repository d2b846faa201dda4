//! The command line, put to the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod config;
mod db;
mod demo;
mod evaluate;
mod explain;
mod import;
mod job;
mod queue;
mod replay;
mod serve;
mod snapshot;

use std::path::PathBuf;
use stowplan_tests::{Cli, Output};
use tempfile::TempDir;

/// A fresh folder with files of these names and texts.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// Runs `stowplan` with these arguments in this folder.
fn stowplan(folder: &TempDir, arguments: &[&str]) -> Output {
    Cli::new(arguments).inside(folder.path()).run()
}

/// A file of recorded decisions.
fn golden(name: &str) -> PathBuf {
    stowplan_tests::workspace().join("tests/golden/nova").join(name)
}

#[test]
fn help_tells_of_every_command_and_of_exit_codes() {
    let folder = folder(&[]);
    let help = stowplan(&folder, &["--help"]);
    assert_eq!(help.code, 0);
    for word in
        ["serve", "demo", "db", "config", "explain", "evaluate", "snapshot", "replay", "Exit codes"]
    {
        assert!(help.stdout.contains(word), "{word}: {}", help.stdout);
    }
    for command in ["serve", "demo", "evaluate", "snapshot", "replay"] {
        let help = stowplan(&folder, &[command, "--help"]);
        assert!(help.stdout.contains("Example"), "{command}: {}", help.stdout);
    }
}

#[test]
fn wrong_usage_is_exit_code_2_with_a_hint() {
    let folder = folder(&[]);
    let output = stowplan(&folder, &["serv"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("serve"), "{}", output.stderr);
}

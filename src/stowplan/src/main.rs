//! One ledger and one engine that place virtual machines and batch jobs.
//!
//! The binary: command line, wiring, start-up and shut-down.

mod bar;
mod checked;
mod cli;
mod clock;
mod commands;
mod database;
mod demo;
mod evaluate;
mod exit;
mod follow;
mod heartbeats;
mod http;
mod import;
mod latency;
mod out;
mod replay;
mod serve;
mod table;

use clap::Parser as _;
use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Answers are made of many small parts, and the writer makes anew what a batch
/// changes of the image: an eighth of their time was the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    exit::conclude(cli::Cli::parse().command.run())
}

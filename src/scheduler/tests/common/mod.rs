//! A ledger in memory with the standard names, and hosts to put into it.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use stowplan_config::Settings;
use stowplan_ledger::{Change, ConnectSpec, Image, Ledger, OpenOptions, Quiet, WriteError};
use stowplan_model::Micros;
use stowplan_scheduler::{Scheduler, SchedulerError};

/// The present of all tests: 2026-01-01.
pub const NOW: Micros = Micros(1_767_225_600_000_000);

pub async fn ledger() -> Ledger {
    let options = OpenOptions {
        database: ConnectSpec::in_memory(),
        lock_file: None,
        limits: stowplan_ledger::Limits::default(),
    };
    let ledger = Ledger::open(options, &mut Quiet).await.unwrap();
    let seed = |image: &Image| Ok::<_, SchedulerError>(stowplan_placement::names::seed(image, NOW));
    ledger.write("req-seed", seed).await.unwrap();
    ledger
}

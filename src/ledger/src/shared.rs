//! What the writer and the readers have in common.

use crate::{change::Entry, image::Image};
use arc_swap::ArcSwap;
use std::{sync::Arc, time::Duration};
use stowplan_db::Connection;
use tokio::sync::watch;

/// Bounds of the writer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Mutations in one batch at most (`[ledger] batch_max_mutations`).
    pub batch_size: usize,
    /// How long a batch may be gathered (`[ledger] batch_max_ms`).
    pub batch_time: Duration,
    /// How long the writer waits for company when the last batch had some
    /// (`[ledger] linger_us`).
    pub linger: Duration,
    /// Writes that may wait (`[ledger] queue_limit`); more are turned away.
    pub queue: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            batch_size: 512,
            batch_time: Duration::from_millis(20),
            linger: Duration::from_micros(40),
            queue: 8192,
        }
    }
}

pub(crate) struct Shared {
    pub connection: Connection,
    pub limits: Limits,
    image: ArcSwap<Image>,
    head: watch::Sender<i64>,
}

impl Shared {
    pub fn new(connection: Connection, limits: Limits, image: Image) -> Self {
        let head = watch::Sender::new(image.seq());
        Self { connection, limits, image: ArcSwap::from_pointee(image), head }
    }

    pub fn image(&self) -> Arc<Image> {
        self.image.load_full()
    }

    pub fn publish(&self, image: Image) {
        self.image.store(Arc::new(image));
    }

    /// Wakes whoever waits for something to change.
    pub fn announce(&self, entries: Vec<Entry>) {
        if let Some(last) = entries.last() {
            self.head.send_replace(last.seq);
        }
    }

    pub fn watch(&self) -> watch::Receiver<i64> {
        self.head.subscribe()
    }
}

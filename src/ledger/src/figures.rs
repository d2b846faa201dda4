//! What the writer has done, for metrics.

use crate::Ledger;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Mutations that were committed.
    pub mutations: u64,
    /// Transactions that were committed.
    pub commits: u64,
    /// Transactions of which nothing was kept.
    pub given_up: u64,
    /// How long the committed ones took in all, from their first statement on.
    pub time: Duration,
}

/// The same, counted by the writer.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    mutations: AtomicU64,
    commits: AtomicU64,
    given_up: AtomicU64,
    micros: AtomicU64,
}

impl Counters {
    /// A transaction of so many mutations is committed.
    pub fn committed(&self, mutations: usize, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.mutations.fetch_add(mutations as u64, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Nothing of a transaction was kept.
    pub fn given_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }
}

impl Ledger {
    /// What the writer has done since the start.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let Counters { mutations, commits, given_up, micros } = &self.shared.counters;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Figures {
            mutations: get(mutations),
            commits: get(commits),
            given_up: get(given_up),
            time: Duration::from_micros(get(micros)),
        }
    }

    /// How many mutations wait for the writer to take them.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.waiting()
    }
}

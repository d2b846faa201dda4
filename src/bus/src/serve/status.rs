//! How the bus is, for probes and metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use serde::Serialize;
use std::sync::Arc;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Calls that were taken.
    Calls,
    /// Casts that were taken.
    Casts,
    /// Copies of calls and casts that were dropped.
    Duplicates,
    /// Calls that got the answer of the first copy.
    Repeated,
    /// Calls whose caller may have given up before they were taken.
    TooLate,
    /// Messages that cannot be read.
    Unreadable,
    /// Replies that brokers took.
    Replies,
    /// Answers that reached nobody.
    Undelivered,
    /// Claims taken back because of that.
    Released,
    /// Notifications that were taken.
    Notifications,
    /// Facts of casts and notifications that changed something.
    Facts,
    /// Notifications and events that were sent.
    Sent,
    /// Connections that were lost.
    Lost,
}

impl Counter {
    /// All of them, in order, with their names.
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::Calls, "calls"),
        (Self::Casts, "casts"),
        (Self::Duplicates, "duplicates"),
        (Self::Repeated, "repeated"),
        (Self::TooLate, "too_late"),
        (Self::Unreadable, "unreadable"),
        (Self::Replies, "replies"),
        (Self::Undelivered, "undelivered"),
        (Self::Released, "released"),
        (Self::Notifications, "notifications"),
        (Self::Facts, "facts"),
        (Self::Sent, "sent"),
        (Self::Lost, "lost"),
    ];
}

/// Whether calls are consumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Link {
    /// No connection yet, or none any more.
    #[default]
    Connecting,
    /// Queues are consumed.
    Consuming {
        /// The broker.
        broker: String,
    },
    /// There is no connection, and why.
    Away {
        /// What happened.
        reason: String,
    },
    /// The service is ending.
    Stopped,
}

/// How the bus is; shared by all that has to do with it.
#[derive(Debug, Default)]
pub struct Status {
    link: ArcSwap<Link>,
    counts: [AtomicU64; Counter::ALL.len()],
}

impl Status {
    /// Whether calls are consumed.
    #[must_use]
    pub fn link(&self) -> Arc<Link> {
        self.link.load_full()
    }

    pub(crate) fn set(&self, link: Link) {
        self.link.store(Arc::new(link));
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self, counter: Counter) -> u64 {
        self.counts[counter as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, counter: Counter, more: u64) {
        self.counts[counter as usize].fetch_add(more, Ordering::Relaxed);
    }
}

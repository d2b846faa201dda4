//! How the bus is, for probes and metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::Semaphore;

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
    /// Claims that stay all the same.
    Kept,
    /// Notifications that were taken.
    Notifications,
    /// Facts of casts and notifications that changed something.
    Facts,
    /// Notifications and events that were sent.
    Sent,
    /// Casts and notifications that were dropped, because too many waited.
    Dropped,
    /// Connections that were lost.
    Lost,
}

impl Counter {
    /// All of them, in order, with their names.
    pub const ALL: [(Self, &'static str); 15] = [
        (Self::Calls, "calls"),
        (Self::Casts, "casts"),
        (Self::Duplicates, "duplicates"),
        (Self::Repeated, "repeated"),
        (Self::TooLate, "too_late"),
        (Self::Unreadable, "unreadable"),
        (Self::Replies, "replies"),
        (Self::Undelivered, "undelivered"),
        (Self::Released, "released"),
        (Self::Kept, "kept"),
        (Self::Notifications, "notifications"),
        (Self::Facts, "facts"),
        (Self::Sent, "sent"),
        (Self::Dropped, "dropped"),
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

impl Link {
    /// The names of all states.
    pub const NAMES: [&str; 4] = ["connecting", "consuming", "away", "stopped"];

    /// The name of the state.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        let place = match self {
            Self::Connecting => 0,
            Self::Consuming { .. } => 1,
            Self::Away { .. } => 2,
            Self::Stopped => 3,
        };
        Self::NAMES[place]
    }
}

/// How the bus is; shared by all that has to do with it.
#[derive(Debug)]
pub struct Status {
    link: ArcSwap<Link>,
    counts: [AtomicU64; Counter::ALL.len()],
    permits: Arc<Semaphore>,
    most: usize,
}

impl Status {
    /// At most `most` calls are worked on at the same time.
    pub(crate) fn new(most: usize) -> Self {
        let permits = Arc::new(Semaphore::new(most));
        Self { link: ArcSwap::default(), counts: Default::default(), permits, most }
    }

    /// A permit for each call that is worked on.
    pub(crate) fn permits(&self) -> Arc<Semaphore> {
        self.permits.clone()
    }

    /// Calls that are worked on.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.most.saturating_sub(self.permits.available_permits())
    }

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

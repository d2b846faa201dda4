//! Which answers are on their way, and which queues were missing a moment ago.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stowplan_model::Uuid;
use tokio::sync::mpsc;

/// How long a missing queue is remembered, as the peer.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Missing queues that are remembered, as the peer.
const MEMORY: usize = 200;
/// Answers that may be under way; beyond that one try is all.
const MANY: usize = 4096;

/// What is known of deliveries.
pub struct Deliveries {
    known: Mutex<Known>,
    delivered: mpsc::UnboundedSender<Uuid>,
}

#[derive(Default)]
struct Known {
    under_way: HashSet<Uuid>,
    /// Taken by the broker, and not noted in the ledger yet.
    taken: HashSet<Uuid>,
    missing: HashMap<String, Instant>,
}

impl Deliveries {
    /// `delivered` takes what is to be noted. What is to be noted was claimed in the
    /// ledger, so a ledger that takes no notes gets no more of them either.
    #[must_use]
    pub fn new(delivered: mpsc::UnboundedSender<Uuid>) -> Self {
        Self { known: Mutex::default(), delivered }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks an answer as under way; false if it is already. One that was taken is
    /// sent again to whoever asks again.
    pub fn begin(&self, call: Uuid) -> bool {
        self.known().under_way.insert(call)
    }

    /// It is not under way any more.
    pub fn end(&self, call: Uuid) {
        self.known().under_way.remove(&call);
    }

    /// The broker took an answer: it is to be noted.
    pub fn taken(&self, call: Uuid) {
        self.known().taken.insert(call);
        // Nobody listens any more only when the service has ended.
        let _ = self.delivered.send(call);
    }

    /// Answers are noted in the ledger.
    pub fn noted(&self, calls: &[Uuid]) {
        let mut known = self.known();
        for call in calls {
            known.taken.remove(call);
        }
    }

    /// Whether somebody is at it, or the ledger is about to know it.
    pub fn has(&self, call: Uuid) -> bool {
        let known = self.known();
        known.under_way.contains(&call) || known.taken.contains(&call)
    }

    /// Whether so many are under way that each gets one try alone.
    pub fn are_many(&self) -> bool {
        self.known().under_way.len() > MANY
    }

    /// Whether a queue was missing a moment ago.
    pub fn was_missing(&self, queue: &str) -> bool {
        self.known().missing.get(queue).is_some_and(|seen| seen.elapsed() < FORGOTTEN)
    }

    /// Remembers a queue as missing.
    pub fn remember_missing(&self, queue: &str) {
        let missing = &mut self.known().missing;
        missing.retain(|_, seen| seen.elapsed() < FORGOTTEN);
        if missing.len() < MEMORY {
            missing.insert(queue.to_owned(), Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_was_taken_is_looked_after_until_it_is_noted() {
        let (sender, mut to_note) = mpsc::unbounded_channel();
        let (deliveries, call) = (Deliveries::new(sender), Uuid::from_u128(1));
        assert!(deliveries.begin(call));
        assert!(!deliveries.begin(call));
        deliveries.taken(call);
        deliveries.end(call);
        assert!(deliveries.has(call));
        assert_eq!(to_note.try_recv(), Ok(call));
        deliveries.noted(&[call]);
        assert!(!deliveries.has(call));
    }
}

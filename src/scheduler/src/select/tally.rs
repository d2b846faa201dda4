//! How many requests for destinations there were, by what became of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    /// All servers have a host.
    Placed,
    /// The same, and nothing was claimed.
    DryRun,
    /// There is no valid host.
    NoValidHost,
    /// It was answered before.
    Repeated,
    /// It cannot be judged, or the ledger cannot write.
    Failed,
}

impl Became {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Placed, "placed"),
        (Self::DryRun, "dry_run"),
        (Self::NoValidHost, "no_valid_host"),
        (Self::Repeated, "repeated"),
        (Self::Failed, "failed"),
    ];
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallied {
    /// How many there were.
    pub count: u64,
    /// How long they took in all, commits included.
    pub time: Duration,
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Tally {
    counts: [AtomicU64; Became::ALL.len()],
    micros: [AtomicU64; Became::ALL.len()],
    conflicts: AtomicU64,
}

impl Tally {
    pub(crate) fn add(&self, became: Became, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.counts[became as usize].fetch_add(1, Ordering::Relaxed);
        self.micros[became as usize].fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn add_conflict(&self) {
        self.conflicts.fetch_add(1, Ordering::Relaxed);
    }

    /// By outcome, with its name.
    pub fn outcomes(&self) -> impl Iterator<Item = (&'static str, Tallied)> {
        Became::ALL.iter().map(|(became, name)| {
            let count = self.counts[*became as usize].load(Ordering::Relaxed);
            let micros = self.micros[*became as usize].load(Ordering::Relaxed);
            (*name, Tallied { count, time: Duration::from_micros(micros) })
        })
    }

    /// Decisions that were made again because somebody else was faster.
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.conflicts.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_tallied_by_outcome() {
        let tally = Tally::default();
        tally.add(Became::NoValidHost, Duration::from_micros(5));
        tally.add(Became::NoValidHost, Duration::from_micros(6));
        tally.add_conflict();
        let found: Vec<_> = tally.outcomes().filter(|(_, of)| of.count > 0).collect();
        let time = Duration::from_micros(11);
        assert_eq!(found, [("no_valid_host", Tallied { count: 2, time })]);
        assert_eq!(tally.conflicts(), 1);
        let names = Became::ALL.iter().enumerate();
        assert!(names.into_iter().all(|(place, (became, _))| *became as usize == place));
    }
}

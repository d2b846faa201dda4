//! What batch cycles have done, for metrics.

use super::CycleReport;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Cycles that had work.
    pub cycles: u64,
    /// Tasks that they bound.
    pub binds: u64,
    /// Statements of theirs that were refused at commit.
    pub refusals: u64,
    /// How long they took in all.
    pub time: Duration,
    /// How long the last one took.
    pub last: Duration,
}

/// The same, counted by the loop that runs them.
#[derive(Debug, Default)]
pub struct CycleFigures {
    cycles: AtomicU64,
    binds: AtomicU64,
    refusals: AtomicU64,
    micros: AtomicU64,
    last_micros: AtomicU64,
}

impl CycleFigures {
    pub(super) fn add(&self, report: CycleReport, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.cycles.fetch_add(1, Ordering::Relaxed);
        self.binds.fetch_add(report.binds as u64, Ordering::Relaxed);
        self.refusals.fetch_add(report.refusals as u64, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        self.last_micros.store(micros, Ordering::Relaxed);
    }

    /// The counts.
    #[must_use]
    pub fn get(&self) -> Figures {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Figures {
            cycles: get(&self.cycles),
            binds: get(&self.binds),
            refusals: get(&self.refusals),
            time: Duration::from_micros(get(&self.micros)),
            last: Duration::from_micros(get(&self.last_micros)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_add_up() {
        let figures = CycleFigures::default();
        for (binds, took) in [(2, 5), (3, 7)] {
            let report = CycleReport { cycle: 1, binds, refusals: 1, ..CycleReport::default() };
            figures.add(report, Duration::from_micros(took));
        }
        let micros = Duration::from_micros;
        let expected =
            Figures { cycles: 2, binds: 5, refusals: 2, time: micros(12), last: micros(7) };
        assert_eq!(figures.get(), expected);
    }
}

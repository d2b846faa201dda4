//! Clients that work at once, and what that took.

use crate::wire::{Connection, Target};
use std::{
    collections::BTreeMap,
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// What came of a row.
#[derive(Debug, Default)]
pub struct Figures {
    /// How long each operation took, sorted.
    pub times: Vec<Duration>,
    /// How long the whole took.
    pub elapsed: Duration,
    /// How often each status came; 2xx are left out.
    pub refused: BTreeMap<u16, usize>,
    /// CPU time of the server.
    pub cpu: Option<Duration>,
}

/// One worker's notes.
#[derive(Debug)]
pub struct Notes<K> {
    times: Vec<Duration>,
    refused: BTreeMap<u16, usize>,
    /// What the row wants to keep.
    pub kept: Vec<K>,
}

impl<K> Notes<K> {
    /// Notes a status; says whether it is a success.
    pub fn status(&mut self, status: u16) -> bool {
        let good = (200..300).contains(&status);
        if !good {
            *self.refused.entry(status).or_default() += 1;
        }
        good
    }
}

/// Lets `clients` do operations, each with the number of the operation, until
/// the time is up or `most` are done.
pub fn drive<K: Send>(
    target: &Target,
    clients: usize,
    time: Duration,
    most: usize,
    operation: impl Fn(&mut Connection, usize, &mut Notes<K>) + Sync,
) -> (Figures, Vec<K>) {
    let (next, start) = (AtomicUsize::new(0), Barrier::new(clients + 1));
    let work = || {
        let mut connection = target.connect();
        let mut notes = Notes { times: Vec::new(), refused: BTreeMap::new(), kept: Vec::new() };
        start.wait();
        let until = Instant::now() + time;
        while Instant::now() < until {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= most {
                break;
            }
            let begun = Instant::now();
            operation(&mut connection, number, &mut notes);
            notes.times.push(begun.elapsed());
        }
        notes
    };
    let mut figures = Figures::default();
    let mut kept = Vec::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..clients).map(|_| scope.spawn(work)).collect();
        start.wait();
        let begun = Instant::now();
        for worker in workers {
            let notes = worker.join().expect("a worker ends");
            figures.times.extend(notes.times);
            kept.extend(notes.kept);
            for (status, count) in notes.refused {
                *figures.refused.entry(status).or_default() += count;
            }
        }
        figures.elapsed = begun.elapsed();
    });
    figures.times.sort_unstable();
    (figures, kept)
}

impl Figures {
    /// Operations a second.
    pub fn rate(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// The time that this share of the operations did not exceed.
    pub fn percentile(&self, hundredths: usize) -> Duration {
        let rank = (self.times.len() * hundredths).div_ceil(100).max(1);
        self.times.get(rank - 1).copied().unwrap_or_default()
    }

    /// CPU time of the server for each operation.
    pub fn cpu_each(&self) -> Option<Duration> {
        let count = u32::try_from(self.times.len()).ok().filter(|count| *count > 0)?;
        Some(self.cpu? / count)
    }
}

//! The newest changes, in memory: whoever follows the journal closely reads no
//! database.

use crate::change::Entry;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use stowplan_model::Micros;

/// How much is kept at most, in bytes of the journal: what a change takes in memory
/// is of that order.
const MOST_BYTES: usize = 32 << 20;

/// The newest changes without a gap, oldest first, up to the last one.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// With the bytes of each.
    entries: VecDeque<(Arc<Entry>, usize)>,
    bytes: usize,
}

impl Recent {
    /// Adds what was committed, with the bytes that each takes in the journal.
    /// Where it does not follow on what is kept, that is dropped.
    pub fn add(&self, entries: Vec<(Entry, usize)>) {
        let mut kept = self.lock();
        for (entry, bytes) in entries {
            if kept.entries.back().is_some_and(|(last, _)| last.seq + 1 != entry.seq) {
                *kept = Kept::default();
            }
            kept.bytes += bytes;
            kept.entries.push_back((Arc::new(entry), bytes));
        }
        while kept.bytes > MOST_BYTES {
            kept.forget_first();
        }
    }

    /// Forgets everything: the image was read anew.
    pub fn clear(&self) {
        *self.lock() = Kept::default();
    }

    /// Forgets changes as the journal does: those before `oldest`, none after
    /// `upto`, and never the last one.
    pub fn trim(&self, oldest: Micros, upto: Option<i64>) {
        let mut kept = self.lock();
        let goes = |(entry, _): &(Arc<Entry>, usize)| {
            entry.time < oldest && upto.is_none_or(|upto| entry.seq <= upto)
        };
        while kept.entries.len() > 1 && kept.entries.front().is_some_and(goes) {
            kept.forget_first();
        }
    }

    /// The changes after `seq`, at most `limit`; none where they begin before
    /// what is kept.
    pub fn since(&self, seq: i64, limit: usize) -> Option<Vec<Arc<Entry>>> {
        let kept = self.lock();
        let first = kept.entries.front()?.0.seq;
        let skipped = usize::try_from(seq.checked_add(1)?.checked_sub(first)?).ok()?;
        let entries = kept.entries.iter().skip(skipped).take(limit);
        Some(entries.map(|(entry, _)| entry.clone()).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn forget_first(&mut self) {
        if let Some((_, bytes)) = self.entries.pop_front() {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;

    fn entry(seq: i64, bytes: usize) -> (Entry, usize) {
        let change = Change::new("test");
        (Entry { seq, request_id: "req".to_owned(), time: Micros(seq), change }, bytes)
    }

    fn seqs(recent: &Recent, since: i64, limit: usize) -> Option<Vec<i64>> {
        Some(recent.since(since, limit)?.iter().map(|entry| entry.seq).collect())
    }

    #[test]
    fn what_follows_a_point_is_known_or_it_is_not() {
        let recent = Recent::default();
        assert_eq!(seqs(&recent, 0, 9), None);
        recent.add(vec![entry(5, 1), entry(6, 1), entry(7, 1)]);
        assert_eq!(seqs(&recent, 3, 9), None);
        assert_eq!(seqs(&recent, 4, 9), Some(vec![5, 6, 7]));
        assert_eq!(seqs(&recent, 5, 1), Some(vec![6]));
        assert_eq!(seqs(&recent, 7, 9), Some(vec![]));
        recent.add(vec![entry(9, 1)]);
        assert_eq!(seqs(&recent, 7, 9), None, "between them is a gap");
        assert_eq!(seqs(&recent, 8, 9), Some(vec![9]));
    }

    #[test]
    fn it_forgets_the_oldest() {
        let recent = Recent::default();
        recent.add((1..=4).map(|seq| entry(seq, MOST_BYTES / 3)).collect());
        assert_eq!(seqs(&recent, 0, 9), None);
        assert_eq!(seqs(&recent, 1, 9), Some(vec![2, 3, 4]));
        recent.trim(Micros(4), Some(2));
        assert_eq!(seqs(&recent, 1, 9), None);
        recent.trim(Micros(i64::MAX), None);
        assert_eq!(seqs(&recent, 3, 9), Some(vec![4]), "the last one stays");
        recent.clear();
        assert_eq!(seqs(&recent, 4, 9), None);
    }
}

//! The last messages, to know a second copy: as many as the peer remembers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are remembered.
const MEMORY: usize = 16;

/// The ids of the last messages of all queues. It outlives connections: what was
/// acknowledged on one that broke may come again on the next.
#[derive(Debug, Default)]
pub struct Duplicates(Mutex<VecDeque<String>>);

impl Duplicates {
    fn last(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a message, and forgets the oldest; false for one that was among the
    /// last. One without an id is always new.
    pub fn remember(&self, id: Option<&str>) -> bool {
        let Some(id) = id else { return true };
        let mut last = self.last();
        if last.iter().any(|known| known == id) {
            return false;
        }
        if last.len() == MEMORY {
            last.pop_front();
        }
        last.push_back(id.to_owned());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_are_remembered() {
        let duplicates = Duplicates::default();
        for number in 0..17 {
            assert!(duplicates.remember(Some(&number.to_string())));
        }
        assert!(!duplicates.remember(Some("1")) && !duplicates.remember(Some("16")));
        assert!(duplicates.remember(Some("0")));
        assert!(duplicates.remember(None) && duplicates.remember(None));
    }
}

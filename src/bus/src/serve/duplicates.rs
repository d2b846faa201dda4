//! The last messages, to know a second copy: as many as the peer remembers.

use std::collections::VecDeque;
use std::sync::Mutex;

/// How many are remembered.
const MEMORY: usize = 16;

/// The ids of the last messages of all queues. It outlives connections: what was
/// acknowledged on one that broke may come again on the next.
#[derive(Debug, Default)]
pub struct Duplicates(Mutex<VecDeque<String>>);

impl Duplicates {
    /// Whether a message of this id was among the last.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.0.lock().is_ok_and(|last| last.iter().any(|known| known == id))
    }

    /// Remembers a message, and forgets the oldest.
    pub fn remember(&self, id: &str) {
        if let Ok(mut last) = self.0.lock() {
            if last.len() == MEMORY {
                last.pop_front();
            }
            last.push_back(id.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_are_remembered() {
        let duplicates = Duplicates::default();
        for number in 0..17 {
            duplicates.remember(&number.to_string());
        }
        assert!(!duplicates.knows("0"));
        assert!(duplicates.knows("1") && duplicates.knows("16"));
    }
}

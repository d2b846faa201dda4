//! What is told again and again: once a minute is enough.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the same is not told again.
const QUIET: Duration = Duration::from_secs(60);

/// What was told last, and when.
#[derive(Debug, Default)]
pub(super) struct Repeated(Mutex<Option<(String, Instant)>>);

impl Repeated {
    /// Whether the same was told a moment ago; notes it otherwise.
    pub fn is_old(&self, what: &str, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = last.as_ref().is_some_and(|(told, when)| {
            told == what && now.saturating_duration_since(*when) < QUIET
        });
        if !is_old {
            *last = Some((what.to_owned(), now));
        }
        is_old
    }

    /// All is well again: whatever comes next is news.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_told_once_a_minute_and_another_at_once() {
        let (told, start) = (Repeated::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for (what, seconds, is_old) in
            [("a", 0, false), ("a", 59, true), ("a", 60, false), ("b", 61, false), ("a", 62, false)]
        {
            assert_eq!(told.is_old(what, at(seconds)), is_old, "{what} {seconds}");
        }
        told.forget();
        assert!(!told.is_old("a", at(63)));
    }
}

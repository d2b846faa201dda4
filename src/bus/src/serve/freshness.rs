//! How old a message can be. It bears no time of its own, so what is known is
//! when its queue was last seen empty: it was sent after that.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use stowplan_model::Micros;

/// Between two looks at the queues.
pub const INTERVAL: Duration = Duration::from_secs(5);
/// A look that takes longer means that the broker stood still, with messages on
/// the way to it.
const STANDSTILL: Duration = Duration::from_secs(10);
/// How long those may take to arrive afterwards.
const SETTLING: Duration = Duration::from_secs(5);

/// When the queues were last seen empty.
#[derive(Debug, Default)]
pub struct Freshness(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    empty: Option<Instant>,
    /// The look before, whatever it saw.
    looked: Option<Instant>,
    /// Nothing is believed before.
    settled: Option<Instant>,
}

impl Freshness {
    /// Notes a look at the queues that began at `began` and saw `waiting`
    /// messages.
    pub fn seen(&self, began: Instant, ended: Instant, waiting: u32) {
        let Ok(mut state) = self.0.lock() else { return };
        let since = state.looked.unwrap_or(began);
        state.looked = Some(ended);
        if ended.duration_since(since) > INTERVAL + STANDSTILL {
            state.settled = Some(ended + SETTLING);
        }
        if waiting == 0 && state.settled.is_none_or(|settled| ended >= settled) {
            state.empty = Some(began);
        }
    }

    /// A message that arrives now was sent after this; none where that is not
    /// known.
    #[must_use]
    pub fn sent_after(&self) -> Option<Instant> {
        self.0.lock().ok().and_then(|state| state.empty)
    }
}

/// The age of a message in seconds if it may be more than `patience`; none while
/// its caller surely waits.
#[must_use]
pub fn too_late(
    sent_after: Option<Instant>,
    now: Instant,
    context: Option<Micros>,
    clock: Micros,
    patience: Duration,
) -> Option<u64> {
    let at_most = sent_after.map(|sent| now.duration_since(sent));
    if at_most.is_some_and(|age| age <= patience) {
        return None;
    }
    // The request that the call belongs to is older than the call, or as old.
    let request = context.map(|time| clock.0.saturating_sub(time.0));
    let request = request.map(|age| Duration::from_micros(u64::try_from(age).unwrap_or(0)));
    if request.is_some_and(|age| age <= patience) {
        return None;
    }
    let age = [at_most, request].into_iter().flatten().min();
    Some(age.unwrap_or(patience).as_secs())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn a_message_is_as_old_as_the_last_look_at_an_empty_queue() {
        let start = Instant::now();
        let freshness = Freshness::default();
        assert_eq!(freshness.sent_after(), None);
        freshness.seen(start, start, 3);
        assert_eq!(freshness.sent_after(), None);
        freshness.seen(start + S(5), start + S(5), 0);
        assert_eq!(freshness.sent_after(), Some(start + S(5)));
        freshness.seen(start + S(10), start + S(10), 1);
        assert_eq!(freshness.sent_after(), Some(start + S(5)));
    }

    #[test]
    fn after_a_standstill_messages_may_still_be_on_their_way() {
        let start = Instant::now();
        let freshness = Freshness::default();
        freshness.seen(start, start, 0);
        freshness.seen(start + S(5), start + S(95), 0);
        assert_eq!(freshness.sent_after(), Some(start));
        freshness.seen(start + S(100), start + S(100), 0);
        assert_eq!(freshness.sent_after(), Some(start + S(100)));
    }

    #[test]
    fn a_caller_that_may_have_given_up_is_not_served() {
        let now = Instant::now() + S(1000);
        let clock = Micros(1_000_000_000_000);
        let ago = |seconds: i64| Some(Micros(clock.0 - seconds * 1_000_000));
        for (sent_after, context, expected) in [
            (Some(10), ago(500), None),
            (Some(70), ago(500), Some(70)),
            (Some(70), ago(20), None),
            (None, ago(20), None),
            (None, ago(500), Some(500)),
            (None, None, Some(60)),
            (None, ago(-5), None),
        ] {
            let sent_after = sent_after.map(|seconds| now - S(seconds));
            let got = too_late(sent_after, now, context, clock, S(60));
            assert_eq!(got, expected, "{sent_after:?} {context:?}");
        }
    }
}

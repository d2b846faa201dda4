//! How often what was taken from a queue is tried again while the ledger does not
//! take it.

use std::time::Duration;

use stowplan_ledger::Unavailable;
use tokio::sync::watch;

/// How often at most what is acknowledged already is tried again: what is lost then
/// comes again with the next full report.
const TRIES: u32 = 30;
/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// How long to go on.
pub(super) enum Patience<'a> {
    /// So many times.
    Tries(u32),
    /// As long as the session is not closed: the broker keeps the message.
    While(&'a watch::Receiver<bool>),
}

/// What is to be done after a try that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tried {
    /// It is to be tried again.
    Again,
    /// It is left for a later session or process.
    Later,
    /// It is lost.
    Enough,
}

impl Patience<'static> {
    /// That of messages which are acknowledged.
    pub const ACKNOWLEDGED: Self = Self::Tries(TRIES);
}

impl Patience<'_> {
    /// Waits until it may be tried again, after this trouble.
    pub async fn wait(&mut self, trouble: &Unavailable) -> Tried {
        match trouble {
            Unavailable::Closing => return Tried::Later,
            // These pass.
            Unavailable::Database { .. }
            | Unavailable::Contended
            | Unavailable::Overloaded { .. } => {}
            // These do not: the next try would end in the same way.
            Unavailable::TooLarge { .. } | Unavailable::Fault { .. } => return Tried::Enough,
        }
        match self {
            Self::Tries(0) => Tried::Enough,
            Self::Tries(left) => {
                *left -= 1;
                tokio::time::sleep(PAUSE).await;
                Tried::Again
            }
            Self::While(closed) => {
                let mut closed = closed.clone();
                let is_closed = closed.wait_for(|closed| *closed);
                match tokio::time::timeout(PAUSE, is_closed).await {
                    Ok(_) => Tried::Later,
                    Err(_) => Tried::Again,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_passes_is_waited_for_and_what_does_not_is_lost_at_once() {
        for (trouble, expected) in [
            (Unavailable::Database { reason: "away".to_owned() }, Tried::Again),
            (Unavailable::Contended, Tried::Again),
            (Unavailable::Overloaded { limit: 1 }, Tried::Again),
            (Unavailable::Closing, Tried::Later),
            (Unavailable::TooLarge { bytes: 2, most: 1 }, Tried::Enough),
            (Unavailable::Fault { id: "1".to_owned() }, Tried::Enough),
        ] {
            assert_eq!(Patience::Tries(1).wait(&trouble).await, expected, "{trouble}");
        }
    }

    #[tokio::test]
    async fn what_the_broker_keeps_waits_and_what_it_does_not_is_lost_in_the_end() {
        let away = Unavailable::Database { reason: "away".to_owned() };
        assert_eq!(Patience::Tries(0).wait(&away).await, Tried::Enough);
        assert_eq!(Patience::Tries(1).wait(&away).await, Tried::Again);
        let (close, closed) = watch::channel(false);
        let mut kept = Patience::While(&closed);
        assert_eq!(kept.wait(&away).await, Tried::Again);
        assert_eq!(kept.wait(&Unavailable::Closing).await, Tried::Later);
        close.send_replace(true);
        assert_eq!(kept.wait(&away).await, Tried::Later);
    }
}

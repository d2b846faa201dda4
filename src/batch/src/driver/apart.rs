//! A thread for each cycle that gives way to those who answer requests.

use std::thread;
use tokio::sync::oneshot;

/// How much less a cycle insists on a processor than others (`nice`).
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 5;

/// Does work on a thread of its own; none when it breaks off, or there is no
/// thread to be had.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, done) = oneshot::channel();
    let run = move || {
        give_way();
        // Nobody waits any more when the service ends.
        let _ = send.send(work());
    };
    let spawned = thread::Builder::new().name("batch".to_owned()).spawn(run);
    if let Err(error) = spawned {
        tracing::error!(%error, "no thread for a batch cycle");
    }
    done.await.ok()
}

/// On Linux a thread has a priority of its own.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(GIVES_WAY) {
        tracing::debug!(%error, "a batch cycle runs at full priority");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[tokio::test]
    async fn work_that_breaks_off_gives_nothing() {
        assert_eq!(apart(|| 7).await, Some(7));
        assert_eq!(apart(|| panic!("as it must")).await, None::<i32>);
    }
}

//! Work that goes on beside the reading, to be waited for at the end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// Tasks that are under way.
#[derive(Clone, Debug)]
pub struct Tasks(Arc<watch::Sender<usize>>);

impl Default for Tasks {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

/// Counts a task out, however it ends.
struct Guard(Tasks);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

impl Tasks {
    /// Starts one.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.send_modify(|count| *count += 1);
        let guard = Guard(self.clone());
        tokio::spawn(async move {
            let _guard = guard;
            work.await;
        });
    }

    /// Waits until none is under way, but no longer than this. Gives how many
    /// are left.
    pub async fn wait(&self, most: Duration) -> usize {
        let mut counts = self.0.subscribe();
        let _ = tokio::time::timeout(most, counts.wait_for(|count| *count == 0)).await;
        *counts.borrow()
    }
}

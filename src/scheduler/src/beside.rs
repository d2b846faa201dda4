//! Computations that would hold up the thread that serves others.

use std::sync::Arc;

use stowplan_ledger::Unavailable;
use tokio::sync::Semaphore;

/// Runs long computations on other threads, no more of them at once than there
/// are processors.
#[derive(Clone)]
pub(crate) struct Beside {
    permits: Arc<Semaphore>,
}

impl Beside {
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { permits: Arc::new(Semaphore::new(threads)) }
    }

    /// Runs a computation beside the calling thread.
    ///
    /// # Errors
    /// When it broke off, because the service is stopping or for a fault.
    pub async fn run<T, F>(&self, work: F) -> Result<T, Unavailable>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let _permit = self.permits.acquire().await.map_err(|_| Unavailable::Closing)?;
        tokio::task::spawn_blocking(work).await.map_err(|_| Unavailable::Closing)
    }
}

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
    /// When the service is stopping; or when the computation broke off, which is
    /// logged under the id that the error has.
    pub async fn run<T, F>(&self, work: F) -> Result<T, Unavailable>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let _permit = self.permits.acquire().await.map_err(|_| Unavailable::Closing)?;
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            if error.is_panic() { Unavailable::fault(&error) } else { Unavailable::Closing }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_computation_that_breaks_off_is_a_fault_with_an_id() {
        let broken: Result<(), _> = Beside::new().run(|| panic!("a bug")).await;
        assert!(matches!(broken, Err(Unavailable::Fault { .. })), "{broken:?}");
    }
}

//! The thread of the bus. A runtime of one thread: one of several wakes a second
//! thread with every frame, in case there is work to share, which costs more than
//! what there is to do.

use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, EnterGuard, Handle};
use tokio::sync::oneshot;

/// A thread that runs what is spawned on it until it is ended.
pub(super) struct Thread {
    runtime: Handle,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Thread {
    /// Starts it.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let run = move || {
            // That the other end is gone is as good as its word.
            let _ = runtime.block_on(ended);
        };
        let thread = thread::Builder::new().name("bus".to_owned()).spawn(run)?;
        Ok(Self { runtime: handle, end, thread })
    }

    /// What is spawned while the guard lives is run by it.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    /// Ends it, with what still runs on it.
    pub fn end(self) {
        let _ = self.end.send(());
        if self.thread.join().is_err() {
            tracing::error!("the thread of the message bus broke off");
        }
    }
}

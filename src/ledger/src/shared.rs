//! What the writer and the readers have in common.

use crate::{error::Unavailable, figures::Counters, image::Image, recent::Recent};
use arc_swap::{ArcSwap, ArcSwapOption};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stowplan_db::{Connection, DbErr};
use tokio::{runtime::Handle, sync::watch};

/// Bounds of the writer; they may be changed while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Mutations in one batch at most (`[ledger] batch_max_mutations`).
    pub batch_size: usize,
    /// How long a batch may be worked on before it takes no more mutations
    /// (`[ledger] batch_max_ms`).
    pub batch_time: Duration,
    /// How long the writer waits for company when the last batch had some
    /// (`[ledger] linger_us`).
    pub linger: Duration,
    /// How often a batch is tried again after trouble that left nothing
    /// behind (`[ledger] commit_retries`).
    pub retries: u32,
    /// Writes that may wait; more are turned away (`[ledger] max_waiting`).
    pub queue: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            batch_size: 512,
            batch_time: Duration::from_millis(20),
            linger: Duration::from_micros(40),
            retries: 10,
            queue: 8192,
        }
    }
}

pub(crate) struct Shared {
    pub connection: Connection,
    limits: ArcSwap<Limits>,
    /// How many writes wait for the writer to take them.
    waiting: AtomicUsize,
    /// Why nothing can be written at the moment.
    trouble: ArcSwapOption<String>,
    /// Why this process may not write at the moment.
    barred: ArcSwapOption<String>,
    runtime: Handle,
    image: ArcSwap<Image>,
    /// The newest changes.
    pub recent: Recent,
    head: watch::Sender<i64>,
    pub counters: Counters,
}

impl Shared {
    /// On the runtime that is to serve the connection.
    pub fn new(connection: Connection, limits: Limits, image: Image) -> Self {
        let head = watch::Sender::new(image.seq());
        Self {
            connection,
            limits: ArcSwap::from_pointee(limits),
            waiting: AtomicUsize::new(0),
            trouble: ArcSwapOption::empty(),
            barred: ArcSwapOption::empty(),
            runtime: Handle::current(),
            image: ArcSwap::from_pointee(image),
            recent: Recent::default(),
            head,
            counters: Counters::default(),
        }
    }

    pub fn limits(&self) -> Limits {
        **self.limits.load()
    }

    pub fn set_limits(&self, limits: Limits) {
        self.limits.store(Arc::new(limits));
    }

    /// A place among those who wait.
    pub fn enter(&self) -> Result<(), Unavailable> {
        let limit = self.limits().queue;
        if self.waiting.fetch_add(1, Ordering::Relaxed) < limit {
            return Ok(());
        }
        self.leave();
        Err(Unavailable::Overloaded { limit })
    }

    /// One no longer waits.
    pub fn leave(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub fn trouble(&self) -> Option<Arc<String>> {
        self.trouble.load_full()
    }

    /// Notes why nothing can be written, or that it can again; says so once.
    pub fn set_trouble(&self, reason: Option<&str>) {
        match (self.trouble.load().is_some(), reason) {
            (false, None) => return,
            (false, Some(reason)) => tracing::error!(reason, "nothing can be written"),
            (true, Some(_)) => {}
            (true, None) => tracing::info!("the ledger writes again"),
        }
        self.trouble.store(reason.map(|reason| Arc::new(reason.to_owned())));
    }

    pub fn barred(&self) -> Option<Arc<String>> {
        self.barred.load_full()
    }

    /// Forbids this process to write, or allows it again; says so once.
    pub fn bar(&self, reason: Option<&str>) {
        let before = self.barred.swap(reason.map(|reason| Arc::new(reason.to_owned())));
        match (before.as_deref().map(String::as_str), reason) {
            (before, Some(reason)) if before != Some(reason) => {
                tracing::error!(reason, "this process may not write");
            }
            (Some(_), None) => tracing::info!("this process may write again"),
            _ => {}
        }
    }

    pub fn image(&self) -> Arc<Image> {
        self.image.load_full()
    }

    /// Makes an image the newest, and wakes whoever waits for a change.
    pub fn publish(&self, image: Arc<Image>) {
        let seq = image.seq();
        self.image.store(image);
        self.head.send_if_modified(|head| std::mem::replace(head, seq) != seq);
    }

    /// Works with the database beside the writer, on the ledger's own runtime
    /// whichever one the caller is on: a pooled connection is served by the
    /// runtime that opened it, and would end with that of an HTTP worker.
    pub async fn beside<T, F>(&self, work: impl FnOnce(Connection) -> F) -> Result<T, Unavailable>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DbErr>> + Send + 'static,
    {
        match self.runtime.spawn(work(self.connection.clone())).await {
            Ok(outcome) => outcome.map_err(Unavailable::database),
            Err(error) if error.is_panic() => Err(Unavailable::fault(&error)),
            Err(_) => Err(Unavailable::Closing),
        }
    }

    pub fn watch(&self) -> watch::Receiver<i64> {
        self.head.subscribe()
    }
}

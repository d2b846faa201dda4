//! The ledger of stowplan: one truth in the database, one image in memory.
//!
//! Reads are answered from the [`Image`], an immutable value that is swapped
//! whole. Writes are proposals: closures that check themselves against the
//! newest image and give a [`Change`]; the one writer commits what waits as one
//! transaction, publishes the next image, and only then answers. The rules of
//! Placement, scheduling and batch live in their own crates; the ledger knows
//! changes and how to apply them.

mod answers;
pub mod change;
mod clock;
mod decisions;
mod delivered;
mod error;
mod fence;
mod figures;
mod filling;
mod heartbeat;
mod hold;
pub mod image;
mod journal;
mod lock;
mod outbox;
mod proposal;
mod recent;
pub mod rows;
mod shared;
mod store;
mod writer;

pub use change::{Change, Entry, Record};
pub use decisions::StoredDecision;
pub use error::{FillError, OpenError, Unavailable, WriteError};
pub use figures::Figures;
pub use filling::{Filled, Filling};
pub use heartbeat::Flushed;
pub use image::Image;
pub use shared::Limits;
pub use store::load::{Progress, Quiet};
pub use stowplan_db::ConnectSpec;

use proposal::{Message, Proposal};
use shared::Shared;
use std::{path::PathBuf, sync::Arc};
use stowplan_db::{connect, migrate};
use tokio::sync::{mpsc, oneshot, watch};
use writer::Writer;

/// What a ledger is opened from.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The database.
    pub database: ConnectSpec,
    /// The file that keeps other stowplan processes away from a SQLite
    /// database; none on the servers and in memory.
    pub lock_file: Option<PathBuf>,
    /// Bounds of the writer.
    pub limits: Limits,
}

/// The ledger, open: cheap to clone.
#[derive(Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
    outbox: mpsc::UnboundedSender<Message>,
    lock: Arc<Option<lock::Lock>>,
    watch: Arc<Option<hold::Watch>>,
}

impl Ledger {
    /// Opens the database, brings its schema up to date, loads the image and
    /// starts the writer, on a thread of its own. The current tokio runtime
    /// serves whoever else works with the database, and must outlive it.
    ///
    /// # Errors
    /// When another process holds the database, when it cannot be reached or
    /// is newer than this version, when a row cannot be read, or when there is
    /// no thread to be had.
    pub async fn open(
        options: OpenOptions,
        progress: &mut dyn Progress,
    ) -> Result<Self, OpenError> {
        let lock = options.lock_file.as_deref().map(lock::Lock::take).transpose()?;
        let connection = connect(&options.database).await?;
        let mut hold = hold::take(&connection, options.database.hold_patience).await?;
        let read = async {
            migrate(&connection, |_| {}).await?;
            fence::fence(&connection).await?;
            store::load::load(&connection, progress).await
        };
        let image = hold::while_held(&mut hold, read).await?;
        let shared = Arc::new(Shared::new(connection, options.limits, image));
        // Bounded by the count of those who wait, which may be set anew.
        let (outbox, inbox) = mpsc::unbounded_channel();
        Writer::new(shared.clone(), inbox).start().map_err(OpenError::Thread)?;
        let watch = hold.map(|hold| hold::Watch::over(hold, shared.clone(), outbox.downgrade()));
        Ok(Self { shared, outbox, lock: Arc::new(lock), watch: Arc::new(watch) })
    }

    /// The newest image. Take it once per answer or session and keep it.
    #[must_use]
    pub fn image(&self) -> Arc<Image> {
        self.shared.image()
    }

    /// The number of the last committed change, to be watched.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<i64> {
        self.shared.watch()
    }

    /// Sets the bounds of the writer anew.
    pub fn set_limits(&self, limits: Limits) {
        self.shared.set_limits(limits);
    }

    /// Why nothing can be written at the moment; none while writes succeed.
    #[must_use]
    pub fn trouble(&self) -> Option<Arc<String>> {
        self.shared.barred().or_else(|| self.shared.trouble())
    }

    /// Proposes a mutation. `check` is run on the newest image (again, if
    /// that moves on before the commit) and gives the change with what the
    /// caller wants back, or a refusal. A change without records writes
    /// nothing. When this returns `Ok` the change is durable and in
    /// [`Ledger::image`].
    ///
    /// # Errors
    /// The refusal, or that the ledger cannot write just now; see
    /// [`WriteError`].
    pub async fn write<F, T, E>(&self, request_id: &str, check: F) -> Result<T, WriteError<E>>
    where
        F: FnMut(&Image) -> Result<(Change, T), E> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let request_id = request_id.to_owned();
        let proposal = Proposal { request_id, check, result: None, reply };
        self.send(Message::Propose(Box::new(proposal)))?;
        answer.await.unwrap_or_else(|_| Err(Unavailable::Closing.into()))
    }

    /// Changes what only the image holds (such as when a service was last
    /// heard); nothing is written for it. It may be done to several images.
    ///
    /// # Errors
    /// When the ledger is closing or too much waits.
    pub fn touch(&self, change: impl Fn(&mut Image) + Send + 'static) -> Result<(), Unavailable> {
        self.send(Message::Touch(Box::new(change)))
    }

    /// Ends the writer after all that waits, and closes the database. What is
    /// proposed afterwards is refused.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.outbox.send(Message::Close(done)).is_ok() {
            let _ = closed.await;
        }
        if let Err(error) = self.shared.connection.close().await {
            tracing::warn!(%error, "the database was not closed in good order");
        }
        if let Some(lock) = self.lock.as_ref() {
            lock.release();
        }
        if let Some(watch) = self.watch.as_ref() {
            watch.end().await;
        }
    }

    fn send(&self, message: Message) -> Result<(), Unavailable> {
        self.shared.enter()?;
        self.outbox.send(message).map_err(|_| {
            self.shared.leave();
            Unavailable::Closing
        })
    }
}

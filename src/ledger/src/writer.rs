//! The one writer: takes what waits, checks it against the newest image,
//! commits it as one transaction, publishes, answers.

use crate::{
    change::{Change, Entry},
    error::{Unavailable, WriteError},
    image::Image,
    shared::Shared,
    store::{load, sheets::Sheets, touched::Touched},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};
use stowplan_db::{Batch, DbErr, Trouble, Written, journal_batch};
use stowplan_model::Micros;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// How often a batch is tried again after trouble that left nothing behind.
const MAX_TRIES: u32 = 8;
/// The first pause between tries; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// A proposal that waits for the writer.
pub(crate) trait Pending: Send {
    /// Checks the proposal against an image. A change is to be committed;
    /// none means that it was refused or has nothing to write. May be asked
    /// again on a newer image: the last answer counts.
    fn check(&mut self, image: &Image) -> Option<Change>;
    /// Answers whoever proposed, after the commit or for want of one.
    fn answer(self: Box<Self>, outcome: Result<(), Unavailable>);
    /// The request that it belongs to.
    fn request_id(&self) -> &str;
}

/// What is sent to the writer.
pub(crate) enum Message {
    /// A mutation.
    Propose(Box<dyn Pending>),
    /// Changes what only the image holds: nothing is written for it.
    Touch(Box<dyn FnOnce(&mut Image) + Send>),
    /// Ends the writer once all before it is done.
    Close(oneshot::Sender<()>),
}

/// A closure that proposes, with the place for its answer.
pub(crate) struct Proposal<F, T, E> {
    pub request_id: String,
    pub check: F,
    pub result: Option<Result<T, E>>,
    pub reply: oneshot::Sender<Result<T, WriteError<E>>>,
}

impl<F, T, E> Pending for Proposal<F, T, E>
where
    F: FnMut(&Image) -> Result<(Change, T), E> + Send,
    T: Send,
    E: Send,
{
    fn check(&mut self, image: &Image) -> Option<Change> {
        match (self.check)(image) {
            Ok((change, output)) => {
                self.result = Some(Ok(output));
                (!change.records.is_empty()).then_some(change)
            }
            Err(refusal) => {
                self.result = Some(Err(refusal));
                None
            }
        }
    }

    fn answer(self: Box<Self>, outcome: Result<(), Unavailable>) {
        let answer = match (outcome, self.result) {
            (Ok(()), Some(Ok(output))) => Ok(output),
            (Ok(()), Some(Err(refusal))) => Err(WriteError::Refused(refusal)),
            (Ok(()), None) => Err(Unavailable::Closing.into()),
            (Err(trouble), _) => Err(trouble.into()),
        };
        // Whoever asked may have gone; the commit stands all the same.
        let _ = self.reply.send(answer);
    }

    fn request_id(&self) -> &str {
        &self.request_id
    }
}

/// The writer's task.
pub(crate) struct Writer {
    pub shared: Arc<Shared>,
    pub inbox: mpsc::Receiver<Message>,
}

/// What became of one try to commit.
enum Tried {
    Committed,
    /// Nothing was kept; the same batch may be tried on a newer image.
    Again(String),
    /// Nothing was kept, and no further try will change that.
    Failed(Unavailable),
}

impl Writer {
    /// Runs until it is closed or nobody can send any more.
    pub async fn run(mut self) {
        let mut crowded = false;
        while let Some(first) = self.inbox.recv().await {
            let mut batch = Vec::new();
            let mut closing = self.take(first, &mut batch);
            if crowded && closing.is_none() {
                self.linger().await;
            }
            let limits = &self.shared.limits;
            let until = Instant::now() + limits.batch_time;
            while closing.is_none() && batch.len() < limits.batch_size && Instant::now() < until {
                let Ok(next) = self.inbox.try_recv() else { break };
                closing = self.take(next, &mut batch);
            }
            crowded = batch.len() > 1;
            if !batch.is_empty() {
                self.commit(batch).await;
            }
            if let Some(done) = closing {
                let _ = done.send(());
                return;
            }
        }
    }

    /// Waits a moment for others who answered clients of the last batch are
    /// about to send: tokio's sleep would be a millisecond at best.
    async fn linger(&self) {
        let until = Instant::now() + self.shared.limits.linger;
        while Instant::now() < until && self.inbox.is_empty() {
            tokio::task::yield_now().await;
        }
    }

    fn take(
        &self,
        message: Message,
        batch: &mut Vec<Box<dyn Pending>>,
    ) -> Option<oneshot::Sender<()>> {
        match message {
            Message::Propose(pending) => batch.push(pending),
            Message::Touch(touch) => {
                let mut image = Image::clone(&self.shared.image());
                touch(&mut image);
                self.shared.publish(image);
            }
            Message::Close(done) => return Some(done),
        }
        None
    }

    /// Commits a batch, or its members one by one when the whole fails for a
    /// reason that may lie in one of them.
    async fn commit(&self, mut batch: Vec<Box<dyn Pending>>) {
        let outcome = self.try_batch(&mut batch).await;
        match outcome {
            Ok(()) => batch.into_iter().for_each(|pending| pending.answer(Ok(()))),
            Err(Unavailable::Fault { .. }) if batch.len() > 1 => {
                for pending in batch {
                    let mut alone = vec![pending];
                    let outcome = self.try_batch(&mut alone).await;
                    alone.into_iter().for_each(|pending| pending.answer(outcome.clone()));
                }
            }
            Err(trouble) => {
                batch.into_iter().for_each(|pending| pending.answer(Err(trouble.clone())));
            }
        }
    }

    async fn try_batch(&self, batch: &mut Vec<Box<dyn Pending>>) -> Result<(), Unavailable> {
        let mut pause = FIRST_PAUSE;
        let mut reason = String::new();
        for _ in 0..MAX_TRIES {
            match self.try_once(batch).await {
                Tried::Committed => return Ok(()),
                Tried::Failed(trouble) => return Err(trouble),
                Tried::Again(why) => {
                    tracing::warn!(reason = %why, "a batch is tried again");
                    reason = why;
                }
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2);
        }
        Err(Unavailable::Database { reason })
    }

    async fn try_once(&self, batch: &mut Vec<Box<dyn Pending>>) -> Tried {
        let before = self.shared.image();
        let mut after = Image::clone(&before);
        let (mut touched, mut entries) = (Touched::default(), Vec::new());
        let time = now();
        let mut broken = Vec::new();
        for (place, pending) in batch.iter_mut().enumerate() {
            // A proposal is code of another crate: should it break, it fails
            // alone, and the writer lives.
            match catch_unwind(AssertUnwindSafe(|| pending.check(&after))) {
                Ok(None) => {}
                Ok(Some(change)) => {
                    touched.note(&change);
                    after.apply(&change);
                    let request_id = pending.request_id().to_owned();
                    entries.push(Entry { seq: after.seq(), request_id, time, change });
                }
                Err(_) => broken.push(place),
            }
        }
        for place in broken.into_iter().rev() {
            batch.remove(place).answer(Err(Unavailable::fault(&"a proposal broke off")));
        }
        if entries.is_empty() {
            return Tried::Committed;
        }
        let id = Uuid::new_v4().to_string();
        let backend = self.shared.connection.backend();
        let texts = match Sheets::write(backend, &before, &after, &touched, &entries, &id) {
            Ok(texts) => texts,
            Err(trouble) => return Tried::Failed(trouble),
        };
        let written = self.shared.connection.write(before.seq(), after.seq(), &id, &texts).await;
        match written {
            Ok(Written::Committed) => {
                self.shared.publish(after);
                self.shared.announce(entries);
                Tried::Committed
            }
            Ok(Written::HeadMoved) => self.reload("another process wrote").await,
            Err(error) => match Trouble::classify(&error) {
                Trouble::Lost => self.settle(&id, after, entries, error.to_string()).await,
                Trouble::Retry => Tried::Again(error.to_string()),
                Trouble::Full | Trouble::ReadOnly => {
                    Tried::Failed(Unavailable::Database { reason: error.to_string() })
                }
                Trouble::Constraint | Trouble::Other => {
                    // The tables are not what the image says: read them anew.
                    let fault = Unavailable::fault(&error);
                    self.reload("a statement failed").await;
                    Tried::Failed(fault)
                }
            },
        }
    }

    /// After a connection was lost in a commit: takes the head's lock first,
    /// so that what is not in the journal by then never will be, and looks.
    async fn settle(&self, id: &str, after: Image, entries: Vec<Entry>, reason: String) -> Tried {
        let mut pause = FIRST_PAUSE;
        for _ in 0..MAX_TRIES {
            match self.is_in_journal(id).await {
                Ok(true) => {
                    self.shared.publish(after);
                    self.shared.announce(entries);
                    return Tried::Committed;
                }
                Ok(false) => return Tried::Again(reason),
                Err(error) => {
                    tracing::warn!(%error, "the outcome of a commit is still unknown");
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(2);
                }
            }
        }
        Tried::Failed(Unavailable::Database { reason })
    }

    async fn is_in_journal(&self, id: &str) -> Result<bool, DbErr> {
        let mut batch = Batch::begin(&self.shared.connection).await?;
        batch.lock_head().await?;
        let found = journal_batch(batch.transaction(), id).await?;
        batch.rollback().await?;
        Ok(found.is_some())
    }

    /// Reads the whole image anew.
    async fn reload(&self, why: &str) -> Tried {
        tracing::warn!(reason = why, "the image is read anew");
        match load::load(&self.shared.connection, &mut load::Quiet).await {
            Ok(image) => {
                self.shared.publish(image);
                Tried::Again(why.to_owned())
            }
            Err(error) => Tried::Failed(Unavailable::Database { reason: error.to_string() }),
        }
    }
}

/// The writer's clock, for the journal.
fn now() -> Micros {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Micros(since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}

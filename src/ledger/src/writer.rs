//! The one writer: takes what waits, checks it against the newest image,
//! commits it as one transaction, publishes, answers.

use crate::{
    change::Entry,
    clock,
    error::Unavailable,
    image::Image,
    proposal::{Message, Pending},
    shared::Shared,
    store::{load, sheets::Sheets, touched::Touched},
};
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};
use stowplan_db::{Batch, Connection, DbErr, Trouble, Written, journal_batch};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// The first pause between tries; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The longest pause between tries.
const LAST_PAUSE: Duration = Duration::from_millis(500);
/// How long a batch is tried again; the last try may still be under way then.
const RETRY_TIME: Duration = Duration::from_secs(10);
/// How often a database that took no write is tried without one that waits.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// How long the outcome of a commit is asked for before its batch is answered
/// without.
const SETTLE_TIME: Duration = Duration::from_secs(30);

const ANOTHER_WROTE: &str = "another process wrote";

/// The writer's task.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    inbox: mpsc::UnboundedReceiver<Message>,
    /// Taken from the inbox, in order; no batch has had time for it yet.
    waiting: VecDeque<Box<dyn Pending>>,
    /// Why the image has to be read anew before anything is checked on it.
    stale: Option<&'static str>,
}

/// What became of one try to commit.
enum Tried {
    Committed,
    /// Nothing was kept; the same batch may be tried again.
    Again(String),
    /// Nothing was kept, for another process wrote; the image is the newest.
    Moved,
    /// Nothing was kept, and no further try will change that.
    Failed(Unavailable),
}

/// A batch, checked and applied to an image of its own.
struct Staged {
    before: Arc<Image>,
    after: Image,
    touched: Touched,
    entries: Vec<Entry>,
}

/// Pauses between tries, each about twice as long as the one before. Chance has
/// a part in it, so that two processes do not meet again and again.
struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(FIRST_PAUSE)
    }
}

impl Pauses {
    async fn wait(&mut self) {
        // The random bits of a uuid are as good as any.
        let part = f64::from(Uuid::new_v4().as_fields().0) / f64::from(u32::MAX);
        tokio::time::sleep(self.0.mul_f64(0.5 + part / 2.0)).await;
        self.0 = LAST_PAUSE.min(self.0 * 2);
    }
}

/// A batch on its way.
type Proposals = Vec<Box<dyn Pending>>;

impl Writer {
    pub fn new(shared: Arc<Shared>, inbox: mpsc::UnboundedReceiver<Message>) -> Self {
        Self { shared, inbox, waiting: VecDeque::new(), stale: None }
    }

    /// Runs until it is closed or nobody can send any more.
    pub async fn run(mut self) {
        let mut company = 0;
        loop {
            let mut closing = None;
            if self.waiting.is_empty() {
                let Some(first) = self.next().await else { return };
                closing = self.take(first);
                if company > 1 && closing.is_none() {
                    self.linger(company).await;
                }
            }
            while closing.is_none() && self.waiting.len() < self.shared.limits().batch_size {
                let Ok(next) = self.inbox.try_recv() else { break };
                closing = self.take(next);
            }
            company = self.waiting.len();
            if let Some(done) = closing {
                while !self.waiting.is_empty() {
                    self.commit().await;
                }
                let _ = done.send(());
                return;
            }
            self.commit().await;
        }
    }

    /// Waits a moment for as many as were in the last batch: they have their
    /// answers and are about to send again. Tokio's sleep would be a
    /// millisecond at best.
    async fn linger(&mut self, company: usize) {
        let until = Instant::now() + self.shared.limits().linger;
        while Instant::now() < until && self.waiting.len() + self.inbox.len() < company {
            tokio::task::yield_now().await;
        }
    }

    /// The next message. While nothing can be written the database is tried
    /// now and then, so that it is known when it is back.
    async fn next(&mut self) -> Option<Message> {
        while self.shared.trouble().is_some() {
            match tokio::time::timeout(PROBE_INTERVAL, self.inbox.recv()).await {
                Ok(message) => return message,
                Err(_) => self.probe().await,
            }
        }
        self.inbox.recv().await
    }

    /// Writes nothing but the head where it is.
    async fn probe(&mut self) {
        let seq = self.shared.image().seq();
        let id = Uuid::now_v7().to_string();
        match self.shared.connection.write(seq, seq, &id, Vec::new()).await {
            Ok(Written::Committed) if self.stale.is_none() => self.shared.set_trouble(None),
            Ok(_) => {
                if self.reload(ANOTHER_WROTE).await.is_ok() {
                    self.shared.set_trouble(None);
                }
            }
            Err(error) => self.shared.set_trouble(Some(&error.to_string())),
        }
    }

    fn take(&mut self, message: Message) -> Option<oneshot::Sender<()>> {
        match message {
            Message::Propose(pending) => {
                self.shared.leave();
                self.waiting.push_back(pending);
            }
            Message::Touch(touch) => {
                self.shared.leave();
                let mut image = Image::clone(&self.shared.image());
                match catch_unwind(AssertUnwindSafe(|| touch(&mut image))) {
                    Ok(()) => self.shared.publish(image),
                    Err(_) => tracing::error!("a change of the image broke off and is dropped"),
                }
            }
            Message::Close(done) => return Some(done),
        }
        None
    }

    /// Commits a batch of what waits, or its members one by one when the whole
    /// fails for a reason that may lie in one of them.
    async fn commit(&mut self) {
        let size = self.waiting.len().min(self.shared.limits().batch_size);
        let mut batch: Proposals = self.waiting.drain(..size).collect();
        match self.try_batch(&mut batch).await {
            Err(Unavailable::Fault { .. } | Unavailable::TooLarge { .. }) if batch.len() > 1 => {
                for pending in batch {
                    let mut alone = vec![pending];
                    let outcome = self.try_batch(&mut alone).await;
                    answer(alone, &outcome);
                }
            }
            outcome => answer(batch, &outcome),
        }
    }

    async fn try_batch(&mut self, batch: &mut Proposals) -> Result<(), Unavailable> {
        let outcome = self.try_and_again(batch).await;
        if let Err(Unavailable::Database { reason }) = &outcome {
            self.shared.set_trouble(Some(reason));
        }
        outcome
    }

    /// Tries a batch until it is committed or patience ends. After one has
    /// waited in vain the next are tried once: their clients shall not wait
    /// for what is known.
    async fn try_and_again(&mut self, batch: &mut Proposals) -> Result<(), Unavailable> {
        let until = Instant::now() + RETRY_TIME;
        let mut pauses = Pauses::default();
        let mut tries = 0;
        loop {
            let (reason, is_known) = match self.try_once(batch).await {
                Tried::Committed => return Ok(()),
                Tried::Failed(trouble) => return Err(trouble),
                Tried::Again(reason) => (reason, self.shared.trouble().is_some()),
                Tried::Moved => (ANOTHER_WROTE.to_owned(), false),
            };
            if is_known || tries >= self.shared.limits().retries || Instant::now() >= until {
                return Err(Unavailable::Database { reason });
            }
            tracing::warn!(%reason, "a batch is tried again");
            tries += 1;
            pauses.wait().await;
        }
    }

    async fn try_once(&mut self, batch: &mut Proposals) -> Tried {
        if let Some(why) = self.stale
            && let Err(trouble) = self.reload(why).await
        {
            return Tried::Failed(trouble);
        }
        let staged = self.stage(batch);
        if staged.entries.is_empty() {
            return Tried::Committed;
        }
        let Staged { before, after, touched, entries } = &staged;
        let id = Uuid::now_v7().to_string();
        let connection = &self.shared.connection;
        let texts = match Sheets::write(connection, before, after, touched, entries, &id) {
            Ok(texts) => texts,
            Err(trouble) => return Tried::Failed(trouble),
        };
        let written = connection.write(before.seq(), after.seq(), &id, texts).await;
        match written {
            Ok(Written::Committed) => {
                self.shared.publish(staged.after);
                self.shared.set_trouble(None);
                Tried::Committed
            }
            Ok(Written::HeadMoved) => match self.reload(ANOTHER_WROTE).await {
                Ok(()) => Tried::Moved,
                Err(trouble) => Tried::Failed(trouble),
            },
            Err(error) => match Trouble::classify(&error) {
                Trouble::Lost => self.settle(&id, staged, error.to_string()).await,
                Trouble::Retry => Tried::Again(error.to_string()),
                Trouble::Full | Trouble::ReadOnly => Tried::Failed(Unavailable::database(error)),
                Trouble::Constraint | Trouble::Other => {
                    let fault = Unavailable::fault(&error);
                    // One that fails alone: the tables may not be what the
                    // image says. Of several each is tried alone first.
                    if batch.len() == 1 {
                        let _ = self.reload("a statement failed").await;
                    }
                    Tried::Failed(fault)
                }
            },
        }
    }

    /// Checks proposals one after the other, each on the image that those
    /// before it have left, until their time is up; what is left then waits
    /// for the next batch.
    fn stage(&mut self, batch: &mut Proposals) -> Staged {
        loop {
            let broken = match self.try_stage(batch) {
                Ok(staged) => return staged,
                Err(broken) => broken,
            };
            let fault = Unavailable::fault(&"a proposal broke off");
            batch.remove(broken).answer(Err(fault));
        }
    }

    /// As [`Writer::stage`]. A proposal is code of another crate: should it or
    /// the applying of its change break off, its place is given, so that it
    /// fails alone and the writer lives.
    fn try_stage(&mut self, batch: &mut Proposals) -> Result<Staged, usize> {
        let before = self.shared.image();
        let mut after = Image::clone(&before);
        let (mut touched, mut entries) = (Touched::default(), Vec::new());
        let time = clock::now();
        let until = Instant::now() + self.shared.limits().batch_time;
        for place in 0..batch.len() {
            if place > 0 && Instant::now() >= until {
                for late in batch.drain(place..).rev() {
                    self.waiting.push_front(late);
                }
                break;
            }
            let pending = &mut batch[place];
            let checked = catch_unwind(AssertUnwindSafe(|| {
                let change = pending.check(&after)?;
                touched.note(&change);
                after.apply(&change);
                Some(change)
            }));
            if let Some(change) = checked.map_err(|_| place)? {
                let request_id = pending.request_id().to_owned();
                entries.push(Entry { seq: after.seq(), request_id, time, change });
            }
        }
        Ok(Staged { before, after, touched, entries })
    }

    /// After a connection was lost in a commit: takes the head's lock first,
    /// so that what is not in the journal by then never will be, and looks.
    /// Nobody is answered before that is known, or patience ends.
    async fn settle(&mut self, id: &str, staged: Staged, reason: String) -> Tried {
        let until = Instant::now() + SETTLE_TIME;
        let mut pauses = Pauses::default();
        loop {
            match is_in_journal(&self.shared.connection, staged.before.seq(), id).await {
                Ok(true) => {
                    self.shared.publish(staged.after);
                    return Tried::Committed;
                }
                Ok(false) => return Tried::Again(reason),
                Err(error) if Instant::now() < until => {
                    tracing::warn!(%error, "the outcome of a commit is still unknown");
                }
                Err(_) => {
                    let reason = format!("the outcome of a commit is not known: {reason}");
                    return Tried::Failed(Unavailable::Database { reason });
                }
            }
            pauses.wait().await;
        }
    }

    /// Reads the whole image anew. While that fails, nothing is written: what
    /// the image says may not be so.
    async fn reload(&mut self, why: &'static str) -> Result<(), Unavailable> {
        tracing::warn!(reason = why, "the image is read anew");
        self.stale = Some(why);
        match load::load(&self.shared.connection, &mut load::Quiet).await {
            Ok(image) => {
                self.stale = None;
                self.shared.publish(image);
                Ok(())
            }
            Err(error) => Err(Unavailable::database(error)),
        }
    }
}

/// Whether a batch was written, once and for all: nobody else holds the head.
async fn is_in_journal(connection: &Connection, known: i64, id: &str) -> Result<bool, DbErr> {
    let mut batch = Batch::begin(connection).await?;
    batch.lock_head().await?;
    let found = journal_batch(batch.transaction(), known, id).await?;
    batch.rollback().await?;
    Ok(found.is_some())
}

fn answer(batch: Proposals, outcome: &Result<(), Unavailable>) {
    batch.into_iter().for_each(|pending| pending.answer(outcome.clone()));
}

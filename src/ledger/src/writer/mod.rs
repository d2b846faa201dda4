//! The one writer: takes what waits, checks it against the newest image,
//! commits it as one transaction, publishes, answers.
//!
//! While a batch is being committed the next one is checked, on the image that
//! this one will leave. It is sent as soon as this one has landed; should this
//! one fail, it is checked anew. Nothing is published or answered before its
//! own commit.

mod draft;
mod pauses;

use crate::{
    change::Entry,
    error::Unavailable,
    image::Image,
    proposal::{Message, Pending, Touch},
    shared::Shared,
    store::{load, sheets::Sheets},
};
use draft::{Draft, Proposals};
use pauses::Pauses;
use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};
use stowplan_db::{Batch, Connection, DbErr, Script, Statements, Trouble, Written, journal_batch};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

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
    /// Taken from the inbox, in order; in no batch yet.
    waiting: VecDeque<Box<dyn Pending>>,
    /// What came for the image alone while a batch was under way.
    touches: Vec<Box<Touch>>,
    /// Who waits for the end, once somebody does.
    closing: Option<oneshot::Sender<()>>,
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

impl Writer {
    pub fn new(shared: Arc<Shared>, inbox: mpsc::UnboundedReceiver<Message>) -> Self {
        let (waiting, touches) = (VecDeque::new(), Vec::new());
        Self { shared, inbox, waiting, touches, closing: None, stale: None }
    }

    /// Runs on a thread of its own: what else is going on shall not hold it up,
    /// and a runtime of several threads wakes one of them with every message of
    /// the database, in case there is work to share.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || runtime.block_on(self.run());
        std::thread::Builder::new().name("ledger".to_owned()).spawn(run).map(drop)
    }

    /// Runs until it is closed or nobody can send any more.
    async fn run(mut self) {
        let mut company = 0;
        loop {
            if self.waiting.is_empty() {
                if let Some(done) = self.closing.take() {
                    let _ = done.send(());
                    return;
                }
                let Some(first) = self.next().await else { return };
                self.take(first);
                if company > 1 && !self.waiting.is_empty() {
                    self.linger(company).await;
                }
            }
            while self.closing.is_none() && self.waiting.len() < self.shared.limits().batch_size {
                let Ok(next) = self.inbox.try_recv() else { break };
                self.take(next);
            }
            company = self.commit().await;
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
                Err(_) if self.shared.barred().is_some() => {}
                Err(_) => self.probe().await,
            }
        }
        self.inbox.recv().await
    }

    /// Writes nothing but the head where it is.
    async fn probe(&mut self) {
        let seq = self.shared.image().seq();
        let id = Uuid::now_v7().to_string();
        let connection = &self.shared.connection;
        match connection.write(seq, seq, &id, Statements::none(connection)).await {
            Ok(Written::Committed) if self.stale.is_none() => self.shared.set_trouble(None),
            Ok(_) => {
                if self.reload(ANOTHER_WROTE).await.is_ok() {
                    self.shared.set_trouble(None);
                }
            }
            Err(error) => self.shared.set_trouble(Some(&error.to_string())),
        }
    }

    /// Takes a message while no batch is under way.
    fn take(&mut self, message: Message) {
        match message {
            Message::Propose(pending) => {
                self.shared.leave();
                self.waiting.push_back(pending);
            }
            Message::Touch(touch) => {
                self.shared.leave();
                self.publish(self.shared.image(), &[touch]);
            }
            Message::Wake => {}
            Message::Close(done) => self.closing = Some(done),
        }
    }

    /// Commits what waits, batch after batch, each made ready while the one
    /// before is under way. Gives the size of the last one.
    async fn commit(&mut self) -> usize {
        let mut draft = Draft::on(self.shared.image());
        let limits = self.shared.limits();
        // On an image that is not the newest nothing is checked, see `once`.
        while self.stale.is_none() && !draft.is_full(&limits) {
            let Some(pending) = self.waiting.pop_front() else { break };
            draft.add(pending);
        }
        let mut size = 0;
        while !draft.is_empty() {
            size = draft.proposals.len();
            let (tried, batch, next) = self.write(draft, true).await;
            draft = next;
            if matches!(tried, Tried::Committed) {
                answer(batch, &Ok(()));
            } else {
                // It was checked on what is not to be.
                for pending in draft.proposals.into_iter().rev() {
                    self.waiting.push_front(pending);
                }
                self.recover(batch, Some(tried)).await;
                return size;
            }
        }
        if self.stale.is_some() {
            size = self.waiting.len().min(limits.batch_size);
            let batch = self.waiting.drain(..size).collect();
            self.recover(batch, None).await;
        }
        size
    }

    /// Writes a batch, and publishes it. Meanwhile the next one is made ready
    /// on it, if that is wanted.
    async fn write(&mut self, draft: Draft, ahead: bool) -> (Tried, Proposals, Draft) {
        let Draft { before, after, touched, entries, proposals, .. } = draft;
        let after = Arc::new(after);
        if entries.is_empty() {
            return (Tried::Committed, proposals, Draft::on(before));
        }
        if let Some(reason) = self.shared.barred() {
            let reason = reason.to_string();
            let barred = Tried::Failed(Unavailable::Database { reason });
            return (barred, proposals, Draft::on(before));
        }
        let id = Uuid::now_v7().to_string();
        let shared = self.shared.clone();
        let connection = &shared.connection;
        let script = Script::new(connection);
        let sheets = match Sheets::write(script, &before, &after, &touched, &entries, &id) {
            Ok(sheets) => sheets,
            Err(trouble) => return (Tried::Failed(trouble), proposals, Draft::on(before)),
        };
        let mut next = Draft::on(after.clone());
        let (known, new) = (before.seq(), after.seq());
        let (began, mutations) = (Instant::now(), entries.len());
        let mut write = pin!(connection.write(known, new, &id, sheets.statements));
        let written = loop {
            let open = ahead && self.closing.is_none() && !next.is_full(&shared.limits());
            tokio::select! {
                biased;
                written = &mut write => break written,
                () = std::future::ready(()), if open && !self.waiting.is_empty() => {
                    self.waiting.pop_front().into_iter().for_each(|pending| next.add(pending));
                }
                Some(message) = self.inbox.recv(), if open => self.take_ahead(message, &mut next),
            }
        };
        let entries = entries.into_iter().zip(sheets.bodies).collect();
        let tried = self.landed(written, &id, known, after, (entries, proposals.len())).await;
        match &tried {
            Tried::Committed => shared.counters.committed(mutations, began.elapsed()),
            Tried::Again(_) | Tried::Moved | Tried::Failed(_) => shared.counters.given_up(),
        }
        (tried, proposals, next)
    }

    /// Takes a message while a batch is under way.
    fn take_ahead(&mut self, message: Message, next: &mut Draft) {
        match message {
            Message::Propose(pending) => {
                self.shared.leave();
                next.add(pending);
            }
            Message::Touch(touch) => {
                self.shared.leave();
                if let Some(image) = touched(&next.after, &*touch) {
                    next.after = image;
                }
                self.touches.push(touch);
            }
            Message::Wake => {}
            Message::Close(done) => self.closing = Some(done),
        }
    }

    /// What became of a batch that was to lead to `after`: of these changes, each with
    /// its bytes in the journal, of so many proposals.
    async fn landed(
        &mut self,
        written: Result<Written, DbErr>,
        id: &str,
        known: i64,
        after: Arc<Image>,
        (entries, size): (Vec<(Entry, usize)>, usize),
    ) -> Tried {
        let touches = std::mem::take(&mut self.touches);
        let tried = match written {
            Ok(Written::Committed) => Tried::Committed,
            Ok(Written::HeadMoved) => {
                tracing::warn!(
                    "another process wrote to the database: reads of each are stale until its \
                     next own write; run one process on a database"
                );
                match self.reload(ANOTHER_WROTE).await {
                    Ok(()) => Tried::Moved,
                    Err(trouble) => Tried::Failed(trouble),
                }
            }
            Err(error) => match Trouble::classify(&error) {
                Trouble::Lost => self.settle(id, known, error.to_string()).await,
                Trouble::Retry => Tried::Again(error.to_string()),
                Trouble::Full | Trouble::ReadOnly => Tried::Failed(Unavailable::database(error)),
                Trouble::Constraint | Trouble::Other => {
                    let fault = Unavailable::fault(&error);
                    // One that fails alone: the tables may not be what the
                    // image says. Of several each is tried alone first.
                    if size == 1 {
                        let _ = self.reload("a statement failed").await;
                    }
                    Tried::Failed(fault)
                }
            },
        };
        if matches!(tried, Tried::Committed) {
            self.shared.recent.add(entries);
            self.publish(after, &touches);
            self.shared.set_trouble(None);
        } else if !touches.is_empty() {
            self.publish(self.shared.image(), &touches);
        }
        tried
    }

    /// Publishes an image with what only images hold.
    fn publish(&self, mut image: Arc<Image>, touches: &[Box<Touch>]) {
        for touch in touches {
            if let Some(changed) = touched(&image, &**touch) {
                image = Arc::new(changed);
            }
        }
        self.shared.publish(image);
    }

    /// Tries a batch that met trouble again, and answers it; its members one by
    /// one when the whole fails for a reason that may lie in one of them.
    async fn recover(&mut self, mut batch: Proposals, met: Option<Tried>) {
        match self.insist(&mut batch, met).await {
            Err(Unavailable::Fault { .. } | Unavailable::TooLarge { .. }) if batch.len() > 1 => {
                for pending in batch {
                    let mut alone = vec![pending];
                    let outcome = self.insist(&mut alone, None).await;
                    answer(alone, &outcome);
                }
            }
            outcome => answer(batch, &outcome),
        }
    }

    async fn insist(
        &mut self,
        batch: &mut Proposals,
        met: Option<Tried>,
    ) -> Result<(), Unavailable> {
        let outcome = self.try_and_again(batch, met).await;
        if let Err(Unavailable::Database { reason }) = &outcome {
            self.shared.set_trouble(Some(reason));
        }
        outcome
    }

    /// Tries a batch until it is committed or patience ends; `met` is what a
    /// try before has met. After one has waited in vain the next are tried
    /// once: their clients shall not wait for what is known.
    async fn try_and_again(
        &mut self,
        batch: &mut Proposals,
        mut met: Option<Tried>,
    ) -> Result<(), Unavailable> {
        let until = Instant::now() + RETRY_TIME;
        let mut pauses = Pauses::default();
        let mut tries = 0;
        loop {
            let tried = match met.take() {
                Some(tried) => tried,
                None => self.once(batch).await,
            };
            let (reason, is_known) = match tried {
                Tried::Committed => return Ok(()),
                Tried::Failed(trouble) => return Err(trouble),
                Tried::Again(reason) => (Some(reason), self.shared.trouble().is_some()),
                Tried::Moved => (None, false),
            };
            if is_known || tries >= self.shared.limits().retries || Instant::now() >= until {
                let tries = match tries + 1 {
                    1 => "one try".to_owned(),
                    tries => format!("{tries} tries"),
                };
                return Err(match reason {
                    Some(reason) => Unavailable::Database {
                        reason: format!("{reason} (given up after {tries})"),
                    },
                    None => Unavailable::Contended,
                });
            }
            let reason = reason.as_deref().unwrap_or(ANOTHER_WROTE);
            tracing::warn!(reason, "a batch is tried again");
            tries += 1;
            pauses.wait().await;
        }
    }

    async fn once(&mut self, batch: &mut Proposals) -> Tried {
        if let Some(why) = self.stale
            && let Err(trouble) = self.reload(why).await
        {
            return Tried::Failed(trouble);
        }
        let draft = Draft::of(self.shared.image(), std::mem::take(batch));
        let (tried, proposals, _) = self.write(draft, false).await;
        *batch = proposals;
        tried
    }

    /// After a connection was lost in a commit: takes the head's lock first,
    /// so that what is not in the journal by then never will be, and looks.
    /// Nobody is answered before that is known, or patience ends.
    async fn settle(&mut self, id: &str, known: i64, reason: String) -> Tried {
        let until = Instant::now() + SETTLE_TIME;
        let mut pauses = Pauses::default();
        loop {
            match is_in_journal(&self.shared.connection, known, id).await {
                Ok(true) => return Tried::Committed,
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
                self.shared.recent.clear();
                self.shared.publish(Arc::new(image));
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

/// An image with what only images hold; none if that breaks off.
fn touched(image: &Image, touch: &Touch) -> Option<Image> {
    let mut image = image.clone();
    match catch_unwind(AssertUnwindSafe(|| touch(&mut image))) {
        Ok(()) => Some(image),
        Err(_) => {
            tracing::error!("a change of the image broke off and is dropped");
            None
        }
    }
}

fn answer(batch: Proposals, outcome: &Result<(), Unavailable>) {
    batch.into_iter().for_each(|pending| pending.answer(outcome.clone()));
}

//! Writes the bodies of decisions, in order and beside the answers.

use std::time::Duration;

use stowplan_config::Decisions;
use stowplan_ledger::Ledger;
use stowplan_model::{Micros, Uuid};
use tokio::sync::{mpsc, oneshot};

/// Bodies that may wait; more are dropped.
const QUEUE: usize = 4096;
/// Bodies written in one go.
const BATCH: usize = 64;
/// How long the first body of a batch waits for others: a write for each would cost
/// as much as what the decisions claim.
const GATHERING: Duration = Duration::from_millis(500);
/// Decisions after which what is kept is trimmed.
const TRIM_EVERY: usize = 1000;
/// Time after which what is kept is trimmed, if anything was recorded.
const TRIM_AFTER: Duration = Duration::from_secs(60);

/// Makes the compressed body of a decision; none if it cannot be made.
pub(crate) type MakeBody = Box<dyn FnOnce() -> Option<Vec<u8>> + Send>;

enum Message {
    Body { id: Uuid, created: Micros, make: MakeBody },
    Drain(oneshot::Sender<()>),
}

/// The door to the task that writes bodies.
#[derive(Clone)]
pub(crate) struct DecisionLog {
    outbox: mpsc::Sender<Message>,
}

impl DecisionLog {
    /// Starts the task on the current tokio runtime. `options` are asked for
    /// whenever what is kept is trimmed.
    pub fn start(ledger: Ledger, options: impl Fn() -> Decisions + Send + 'static) -> Self {
        let (outbox, inbox) = mpsc::channel(QUEUE);
        let writer = Writer { ledger, inbox, options, since_trim: 0, newest: None };
        tokio::spawn(writer.run());
        Self { outbox }
    }

    /// Hands in the body of a decision whose header is committed. Never waits.
    pub fn record(&self, id: Uuid, created: Micros, make: MakeBody) {
        if self.outbox.try_send(Message::Body { id, created, make }).is_err() {
            tracing::warn!(decision = %id, waiting = QUEUE, "the body of a decision is not kept");
        }
    }

    /// Waits until everything handed in so far is written.
    pub async fn drain(&self) {
        let (done, drained) = oneshot::channel();
        if self.outbox.send(Message::Drain(done)).await.is_ok() {
            let _ = drained.await;
        }
    }
}

struct Writer<F> {
    ledger: Ledger,
    inbox: mpsc::Receiver<Message>,
    options: F,
    since_trim: usize,
    newest: Option<Micros>,
}

impl<F: Fn() -> Decisions + Send> Writer<F> {
    async fn run(mut self) {
        let mut clock = tokio::time::interval(TRIM_AFTER);
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut messages = Vec::with_capacity(BATCH);
        loop {
            let received = tokio::select! {
                received = self.inbox.recv_many(&mut messages, BATCH) => received,
                _ = clock.tick() => {
                    self.trim().await;
                    continue;
                }
            };
            if received == 0 {
                return;
            }
            self.gather(&mut messages).await;
            self.write(messages.drain(..)).await;
            if self.since_trim >= TRIM_EVERY {
                self.trim().await;
            }
        }
    }

    /// Waits until enough bodies are there, for a while, or until somebody wants them
    /// written.
    async fn gather(&mut self, messages: &mut Vec<Message>) {
        let is_wanted = |message: &Message| matches!(message, Message::Drain(_));
        let more = async {
            while messages.len() < BATCH && !messages.iter().any(is_wanted) {
                let room = BATCH - messages.len();
                if self.inbox.recv_many(messages, room).await == 0 {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(GATHERING, more).await;
    }

    async fn write(&mut self, messages: impl Iterator<Item = Message>) {
        let (mut bodies, mut waiting) = (Vec::new(), Vec::new());
        for message in messages {
            match message {
                Message::Body { id, created, make } => {
                    self.newest = self.newest.max(Some(created));
                    self.since_trim += 1;
                    bodies.extend(make().map(|body| (id, body)));
                }
                Message::Drain(done) => waiting.push(done),
            }
        }
        let count = bodies.len();
        if let Err(error) = self.ledger.store_decision_bodies(bodies).await {
            tracing::warn!(%error, count, "bodies of decisions are not kept");
        }
        for done in waiting {
            let _ = done.send(());
        }
    }

    /// Deletes what is beyond `[decisions]` max_rows, max_age and max_bytes.
    /// The newest decision says what time it is.
    async fn trim(&mut self) {
        let Some(newest) = self.newest.filter(|_| self.since_trim > 0) else { return };
        self.since_trim = 0;
        let options = (self.options)();
        let age = i64::try_from(options.max_age.as_micros()).unwrap_or(i64::MAX);
        let oldest = Micros(newest.0.saturating_sub(age));
        let trimmed = async {
            let rows = self.ledger.trim_decisions(options.max_rows, oldest).await?;
            Ok::<_, stowplan_ledger::Unavailable>(
                rows + self.ledger.trim_decision_bytes(options.max_bytes).await?,
            )
        };
        match trimmed.await {
            Ok(0) => {}
            Ok(rows) => tracing::debug!(rows, "old decisions are gone"),
            Err(error) => tracing::warn!(%error, "old decisions are not deleted"),
        }
    }
}

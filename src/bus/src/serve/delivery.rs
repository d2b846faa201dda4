//! Answers on their way to callers. One that reaches nobody is undone, one that
//! was taken is noted in the ledger.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use stowplan_ledger::rows::CallRow;
use stowplan_model::Uuid;
use stowplan_scheduler::Call;
use tokio::sync::mpsc;

use super::Hub;
use super::status::Counter;
use crate::link::{Sent, properties};
use crate::wire::{envelope, reply};

/// Between two tries, as the peer.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a queue must be missing, seen by a broker that answers, before what
/// was answered is undone: callers come back after their broker.
const MISSING: Duration = Duration::from_secs(10);
/// How long a missing queue is remembered, as the peer.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Missing queues that are remembered, as the peer.
const MEMORY: usize = 200;
/// Deliveries are noted together, after this: one that is lost with the process is
/// delivered once more.
const GATHERING: Duration = Duration::from_millis(200);
/// Answers that may be under way; beyond that one try is all.
const MANY: usize = 4096;
/// An answer that nobody delivers any more is taken up after this.
const ORPHANED: Duration = Duration::from_secs(10);
/// Between two looks for such answers.
pub const SWEEP: Duration = Duration::from_secs(5);

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The call's id.
    pub msg_id: String,
    /// The queue that it goes to.
    pub queue: String,
    /// The answer, as [`reply::answer`] makes it.
    pub answer: String,
    /// Under which the ledger keeps it.
    pub kept: Option<Uuid>,
}

impl Answer {
    fn of(row: &CallRow) -> Self {
        Self {
            msg_id: row.msg_id.clone(),
            queue: row.reply_queue.clone(),
            answer: row.answer.clone(),
            kept: Some(row.uuid),
        }
    }
}

/// What is known of deliveries.
pub struct Deliveries {
    under_way: Mutex<HashSet<Uuid>>,
    missing: Mutex<HashMap<String, Instant>>,
    delivered: mpsc::UnboundedSender<Uuid>,
}

impl Deliveries {
    /// `delivered` takes what is to be noted, see [`note`].
    #[must_use]
    pub fn new(delivered: mpsc::UnboundedSender<Uuid>) -> Self {
        Self { under_way: Mutex::default(), missing: Mutex::default(), delivered }
    }

    /// Marks an answer as under way; false if it is already.
    fn begin(&self, call: Uuid) -> bool {
        self.under_way.lock().is_ok_and(|mut all| all.insert(call))
    }

    fn end(&self, call: Uuid) {
        if let Ok(mut all) = self.under_way.lock() {
            all.remove(&call);
        }
    }

    fn is_under_way(&self, call: Uuid) -> bool {
        self.under_way.lock().is_ok_and(|all| all.contains(&call))
    }

    fn are_many(&self) -> bool {
        self.under_way.lock().is_ok_and(|all| all.len() > MANY)
    }

    /// Whether a queue was missing a moment ago.
    fn was_missing(&self, queue: &str) -> bool {
        let missing = self.missing.lock();
        missing.is_ok_and(|all| all.get(queue).is_some_and(|seen| seen.elapsed() < FORGOTTEN))
    }

    fn remember_missing(&self, queue: &str) {
        let Ok(mut all) = self.missing.lock() else { return };
        all.retain(|_, seen| seen.elapsed() < FORGOTTEN);
        if all.len() < MEMORY {
            all.insert(queue.to_owned(), Instant::now());
        }
    }
}

impl Hub {
    /// Delivers an answer, however long it takes.
    pub(super) async fn deliver(self: &Arc<Self>, answer: Answer) {
        if let Some(call) = answer.kept
            && !self.deliveries.begin(call)
        {
            // A second copy of a call whose answer is on its way.
            return;
        }
        self.deliver_until(&answer, Instant::now()).await;
        if let Some(call) = answer.kept {
            self.deliveries.end(call);
        }
    }

    async fn deliver_until(&self, answer: &Answer, since: Instant) {
        let patience = self.options().kombu_missing_consumer_retry_timeout;
        let patience = Duration::from_secs(u64::from(patience));
        let long = self.settings.load().default.long_rpc_timeout;
        let long = Duration::from_secs(u64::try_from(long).unwrap_or_default());
        let mut missing_since: Option<Instant> = None;
        loop {
            let text = reply::last(&answer.answer, &answer.msg_id, Uuid::new_v4());
            let body = envelope::seal(&text);
            let sent = self.replies.send("", &answer.queue, true, &body, properties()).await;
            let is_hopeless = match sent {
                Ok(Sent::Taken) => return self.taken(answer),
                Ok(Sent::NoRoute) => {
                    let known = self.deliveries.was_missing(&answer.queue);
                    let since_when = *missing_since.get_or_insert_with(Instant::now);
                    known
                        || self.deliveries.are_many()
                        || (since.elapsed() >= patience
                            && since_when.elapsed() >= MISSING.min(patience))
                }
                Err(error) => {
                    tracing::debug!(%error, queue = answer.queue, "a reply is tried again");
                    missing_since = None;
                    since.elapsed() >= long
                }
            };
            if is_hopeless {
                return self.give_up(answer).await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn taken(&self, answer: &Answer) {
        self.status.add(Counter::Replies, 1);
        if let Some(call) = answer.kept {
            // Nobody listens any more only when the service has ended.
            let _ = self.deliveries.delivered.send(call);
        }
    }

    /// Takes back what was claimed for an answer that reaches nobody.
    async fn give_up(&self, answer: &Answer) {
        self.status.add(Counter::Undelivered, 1);
        self.deliveries.remember_missing(&answer.queue);
        let (msg_id, queue) = (&answer.msg_id, &answer.queue);
        tracing::warn!(msg_id, queue, "nobody takes the reply to a call");
        let Some(uuid) = answer.kept else { return };
        loop {
            let call = Call { request_id: "bus", now: (self.clock)() };
            match self.scheduler.undo_call(call, uuid).await {
                Ok(undone) => {
                    self.status.add(Counter::Released, undone.released.len() as u64);
                    for consumer in &undone.released {
                        tracing::info!(msg_id, %consumer, "its claim is taken back");
                    }
                    for consumer in &undone.kept {
                        tracing::warn!(msg_id, %consumer, "somebody changed its claim: it stays");
                    }
                    return;
                }
                Err(error) => {
                    tracing::warn!(msg_id, %error, "its claims cannot be taken back yet");
                    tokio::time::sleep(PAUSE * 4).await;
                }
            }
        }
    }

    /// Takes up answers that nobody delivers: those of a process that has ended.
    pub(super) fn sweep(self: &Arc<Self>) {
        let now = (self.clock)();
        let orphaned = i64::try_from(ORPHANED.as_micros()).unwrap_or(i64::MAX);
        let image = self.scheduler.ledger().image();
        for row in image.calls.iter().filter(|row| !row.delivered) {
            let age = now.0.saturating_sub(row.updated.0);
            if age < orphaned || self.deliveries.is_under_way(row.uuid) {
                continue;
            }
            let hub = self.clone();
            let (answer, age) = (Answer::of(row), u64::try_from(age).unwrap_or_default());
            self.tasks.spawn(async move {
                let Some(call) = answer.kept.filter(|call| hub.deliveries.begin(*call)) else {
                    return;
                };
                let since = Instant::now().checked_sub(Duration::from_micros(age));
                hub.deliver_until(&answer, since.unwrap_or_else(Instant::now)).await;
                hub.deliveries.end(call);
            });
        }
    }
}

/// Notes deliveries in the ledger, several at a time, until no more can come.
pub(super) async fn note(
    scheduler: stowplan_scheduler::Scheduler,
    clock: super::Clock,
    mut delivered: mpsc::UnboundedReceiver<Uuid>,
) {
    while let Some(first) = delivered.recv().await {
        let mut calls = vec![first];
        tokio::time::sleep(GATHERING).await;
        while let Ok(more) = delivered.try_recv() {
            calls.push(more);
        }
        while let Err(error) = scheduler.calls_delivered(calls.clone(), clock()).await {
            tracing::warn!(%error, calls = calls.len(), "deliveries are not noted yet");
            if matches!(
                error,
                stowplan_ledger::WriteError::Unavailable(stowplan_ledger::Unavailable::Closing)
            ) {
                return;
            }
            tokio::time::sleep(PAUSE * 4).await;
        }
    }
}

//! Answers on their way to callers. One that reaches nobody is undone, one that
//! was taken is noted in the ledger.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use stowplan_ledger::rows::CallRow;
use stowplan_ledger::{Unavailable, WriteError};
use stowplan_model::Uuid;
use stowplan_scheduler::{Call, Scheduler};
use tokio::sync::mpsc;

use super::Hub;
use super::deliveries::Deliveries;
use super::status::Counter;
use crate::link::{Sent, properties};
use crate::wire::message::Caller;
use crate::wire::{envelope, reply};

/// Between two tries, as the peer.
const PAUSE: Duration = Duration::from_millis(250);
/// Between two tries to write to a ledger that does not take it; it doubles.
const LEDGER_PAUSE: Duration = Duration::from_secs(1);
/// The longest of these.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long a queue must be missing, seen by a broker that answers, before what
/// was answered is undone: callers come back after their broker.
const MISSING: Duration = Duration::from_secs(10);
/// Deliveries are noted together, after this: one that is lost with the process is
/// delivered once more.
const GATHERING: Duration = Duration::from_millis(500);
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
    /// Whether its caller may have it already: it may have been sent before, by an
    /// earlier process, too.
    pub maybe_known: bool,
}

impl Answer {
    /// One that is new and of which the ledger keeps nothing.
    pub fn new(caller: &Caller, answer: String) -> Self {
        let (msg_id, queue) = (caller.msg_id.clone(), caller.reply_queue.clone());
        Self { msg_id, queue, answer, kept: None, maybe_known: false }
    }

    /// One of which nobody knows how far it came.
    fn of(row: &CallRow) -> Self {
        Self {
            msg_id: row.msg_id.clone(),
            queue: row.reply_queue.clone(),
            answer: row.answer.clone(),
            kept: Some(row.uuid),
            maybe_known: !row.was_missing(),
        }
    }
}

impl Hub {
    /// Delivers an answer, however long it takes.
    pub(super) async fn deliver(&self, answer: Answer) {
        self.deliver_since(answer, Instant::now()).await;
    }

    async fn deliver_since(&self, answer: Answer, since: Instant) {
        if let Some(call) = answer.kept
            && !self.deliveries.begin(call)
        {
            // A second copy of a call whose answer is on its way.
            return;
        }
        match self.is_delivered(&answer, since).await {
            true => {
                self.status.add(Counter::Replies, 1);
                answer.kept.into_iter().for_each(|call| self.deliveries.taken(call));
            }
            false => self.give_up(&answer).await,
        }
        answer.kept.into_iter().for_each(|call| self.deliveries.end(call));
    }

    /// Sends an answer until a broker takes it for a queue; false when nobody will.
    async fn is_delivered(&self, answer: &Answer, since: Instant) -> bool {
        let patience = self.options().kombu_missing_consumer_retry_timeout;
        let patience = Duration::from_secs(u64::from(patience));
        let long = self.settings.load().default.long_rpc_timeout;
        let long = Duration::from_secs(u64::try_from(long).unwrap_or_default());
        let (mut missing_since, mut is_noted) = (None::<Instant>, false);
        loop {
            let text = reply::last(&answer.answer, &answer.msg_id, Uuid::new_v4());
            let body = envelope::seal(&text);
            let sent = self.replies.send("", &answer.queue, true, &body, properties()).await;
            let is_hopeless = match sent {
                Ok(Sent::Taken) => return true,
                Ok(Sent::NoRoute) => {
                    let since_when = *missing_since.get_or_insert_with(Instant::now);
                    self.note_missing(answer, &mut is_noted).await;
                    self.deliveries.was_missing(&answer.queue)
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
                return false;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Notes in the ledger, once, that no queue was there for an answer: should this
    /// process end, the next one knows that the caller does not have it.
    async fn note_missing(&self, answer: &Answer, is_noted: &mut bool) {
        let Some(call) = answer.kept.filter(|_| !*is_noted && !answer.maybe_known) else { return };
        *is_noted = true;
        if let Err(error) = self.scheduler.call_missing(call, (self.clock)()).await {
            tracing::debug!(%error, "a missing queue was not noted");
        }
    }

    /// Takes back what was claimed for an answer that reaches nobody.
    async fn give_up(&self, answer: &Answer) {
        self.status.add(Counter::Undelivered, 1);
        self.deliveries.remember_missing(&answer.queue);
        let (msg_id, queue) = (&answer.msg_id, &answer.queue);
        tracing::warn!(msg_id, queue, "nobody takes the reply to a call");
        let Some(uuid) = answer.kept else { return };
        let mut pause = LEDGER_PAUSE;
        loop {
            let call = Call { request_id: "bus", now: (self.clock)() };
            match self.scheduler.undo_call(call, uuid, answer.maybe_known).await {
                Ok(undone) => {
                    self.status.add(Counter::Released, undone.released.len() as u64);
                    self.status.add(Counter::Kept, undone.kept.len() as u64);
                    for consumer in &undone.released {
                        tracing::info!(msg_id, %consumer, "its claim is taken back");
                    }
                    for (consumer, reason) in &undone.kept {
                        tracing::warn!(msg_id, %consumer, reason, "its claim stays");
                    }
                    return;
                }
                // The next process takes it up.
                Err(WriteError::Unavailable(Unavailable::Closing)) => return,
                Err(error) => {
                    tracing::warn!(msg_id, %error, "its claims cannot be taken back yet");
                    tokio::time::sleep(pause).await;
                    pause = LONGEST_PAUSE.min(pause * 2);
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
            let age = now.0.saturating_sub(row.created.0);
            if age < orphaned || self.deliveries.has(row.uuid) {
                continue;
            }
            let (hub, answer) = (self.clone(), Answer::of(row));
            let age = Duration::from_micros(u64::try_from(age).unwrap_or_default());
            let since = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
            self.tasks.spawn(async move { hub.deliver_since(answer, since).await });
        }
    }
}

/// Notes deliveries in the ledger, several at a time, until no more can come.
pub(super) async fn note(
    scheduler: Scheduler,
    deliveries: Weak<Deliveries>,
    mut delivered: mpsc::UnboundedReceiver<Uuid>,
) {
    // The image shows a note a moment after it was taken.
    let mut noted = Vec::new();
    while let Some(first) = delivered.recv().await {
        let mut calls = vec![first];
        tokio::time::sleep(GATHERING).await;
        while let Ok(more) = delivered.try_recv() {
            calls.push(more);
        }
        let mut pause = LEDGER_PAUSE;
        while let Err(error) = scheduler.calls_delivered(&calls).await {
            tracing::warn!(%error, calls = calls.len(), "deliveries are not noted yet");
            if matches!(error, Unavailable::Closing) {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
        if let Some(deliveries) = deliveries.upgrade() {
            deliveries.noted(&std::mem::replace(&mut noted, calls));
        }
    }
}

//! What is done with each message of a call queue: read, told from copies,
//! acknowledged, handed on. One after the other, so that casts keep their order.

use std::sync::Arc;
use std::time::Instant;

use lapin::message::Delivery;
use lapin::options::BasicRejectOptions;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use super::Hub;
use super::acknowledged::Acknowledged;
use super::calls::Taken;
use super::casts::Cast;
use super::dead::Unread;
use super::delivery::Answer;
use super::feed::Feed;
use super::status::Counter;
use crate::rpc::interface::{self, Method};
use crate::wire::envelope;
use crate::wire::failure::Failure;
use crate::wire::message::Message;
use crate::wire::reply::{self, Outcome};

/// A message that has arrived.
pub(super) struct Arrival {
    /// The message.
    pub delivery: Delivery,
    /// The queue it came from.
    pub queue: Arc<str>,
    /// It was sent after this; none where that is not known.
    pub sent_after: Option<Instant>,
}

impl Hub {
    /// Takes messages until no more come. Once the session is `closed`, what is left
    /// is not taken.
    pub(super) async fn take_in(
        self: Arc<Self>,
        feed: Feed,
        mut arrivals: mpsc::UnboundedReceiver<Arrival>,
        mut closed: watch::Receiver<bool>,
    ) {
        while let Some(arrival) = arrivals.recv().await {
            // The bound on work in flight: what is not taken waits at the broker.
            let permit = tokio::select! {
                biased;
                _ = closed.wait_for(|closed| *closed) => return,
                permit = self.permits.clone().acquire_owned() => permit,
            };
            let Ok(permit) = permit else { return };
            self.take(feed, arrival, permit).await;
        }
    }

    async fn take(self: &Arc<Self>, feed: Feed, arrival: Arrival, permit: OwnedSemaphorePermit) {
        let Arrival { delivery, queue, sent_after } = arrival;
        let kind = delivery.properties.content_type().as_ref().map(|kind| kind.as_str());
        let fields = match envelope::open(kind, &delivery.data) {
            Ok(fields) => fields,
            Err(error) => return self.refuse(delivery, &queue, error.to_string()).await,
        };
        let message = Message::read(fields);
        if !message.is_kept() {
            let reason = "an id is longer than 255 bytes".to_owned();
            return self.refuse(delivery, &queue, reason).await;
        }
        let Delivery { acker, properties, .. } = delivery;
        let acknowledged = Acknowledged::begin(acker).await;
        let method = interface::find(&message);
        if let (Ok(Method::SelectDestinations), Feed::Calls) = (&method, feed) {
            let expiration = properties.expiration().as_ref();
            let expires_in = expiration.and_then(|text| text.as_str().parse().ok());
            let taken = Taken { message, sent_after, expires_in };
            let hub = self.clone();
            return self.tasks.spawn(async move { hub.select(taken, acknowledged, permit).await });
        }
        if !self.is_ours(&message, acknowledged).await {
            return;
        }
        if feed == Feed::Shadow {
            return self.take_copy(message, permit);
        }
        match method {
            // Calls of this method were taken above.
            Ok(Method::SelectDestinations) => {}
            Ok(Method::Ping) => {
                let arg = message.args.get("arg").cloned().unwrap_or_default();
                let pong = serde_json::json!({"service": "scheduler", "arg": arg});
                self.answer(&message, &Ok(pong));
            }
            Ok(Method::GetBackdoorPort) => {
                self.answer(&message, &Ok(serde_json::Value::Null));
            }
            Ok(method) => self.cast(Cast { method, message }),
            Err(failure) => self.answer(&message, &Err(failure)),
        }
    }

    /// Whether a message is acknowledged, so that nobody else gets it; counts it. One
    /// that is not comes again, here or elsewhere.
    pub(super) async fn is_ours(&self, message: &Message, acknowledged: Acknowledged) -> bool {
        if !acknowledged.wait().await {
            return false;
        }
        // Not before: the copy of a message whose line was cut may be here before it
        // is known that the message itself is not acknowledged.
        if !self.duplicates.remember(message.unique_id.as_deref()) {
            self.status.add(Counter::Duplicates, 1);
            return false;
        }
        let counter = if message.caller.is_some() { Counter::Calls } else { Counter::Casts };
        self.status.add(counter, 1);
        true
    }

    /// Hands a cast on. When too many wait, it is dropped: what it tells comes again
    /// with the next full report, and calls shall not wait for it.
    fn cast(&self, cast: Cast) {
        if self.casts.try_send(cast).is_err() {
            self.status.add(Counter::Dropped, 1);
            tracing::debug!("a cast is dropped: too many wait");
        }
    }

    /// Takes a copy of a message that somebody else answers.
    fn take_copy(self: &Arc<Self>, mut message: Message, permit: OwnedSemaphorePermit) {
        message.caller = None;
        match interface::find(&message) {
            Ok(Method::SelectDestinations) => {
                let hub = self.clone();
                self.tasks.spawn(async move { hub.shadow(message, permit).await });
            }
            Ok(Method::Ping | Method::GetBackdoorPort) | Err(_) => {}
            Ok(method) => self.cast(Cast { method, message }),
        }
    }

    /// Answers a message that claims nothing; a failing cast is only told in the
    /// log.
    pub(super) fn answer(self: &Arc<Self>, message: &Message, outcome: &Outcome) {
        if let Err(failure) = outcome {
            told(message, failure);
        }
        let Some(caller) = &message.caller else { return };
        let answer = Answer::new(caller, reply::answer(outcome));
        let hub = self.clone();
        self.tasks.spawn(async move { hub.deliver(answer).await });
    }

    /// A message that cannot be read: a copy for people, then away with it.
    pub(super) async fn refuse(&self, delivery: Delivery, queue: &str, reason: String) {
        self.status.add(Counter::Unreadable, 1);
        match self.unreadable.is_old(queue, Instant::now()) {
            true => tracing::debug!(queue, reason, "a message cannot be read and is dropped"),
            false => tracing::warn!(
                queue,
                reason,
                "a message cannot be read and is dropped; others of the next minute are only \
                 counted and copied"
            ),
        }
        let options = BasicRejectOptions { requeue: false };
        let Delivery { data, properties, acker, .. } = delivery;
        self.dead.take(Unread { queue: queue.to_owned(), reason, body: data, properties });
        if let Err(error) = acker.reject(options).await {
            tracing::debug!(%error, "an unreadable message comes again");
        }
    }
}

fn told(message: &Message, failure: &Failure) {
    let (method, request_id) = (&message.method, &message.context.request_id);
    let (class, reason) = (&failure.class, &failure.message);
    if message.caller.is_some() {
        tracing::debug!(%method, request_id, class, reason, "a call fails");
    } else {
        tracing::warn!(%method, request_id, class, reason, "a cast fails");
    }
}

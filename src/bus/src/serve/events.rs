//! The ledger's events, sent to a topic exchange. The journal is the outbox: how
//! far it was sent stands in the ledger, so that nothing is lost while the broker
//! is away, and what is sent twice bears the same id.

use std::sync::Arc;
use std::time::{Duration, Instant};

use stowplan_ledger::{Entry, Ledger, Unavailable};
use tokio::sync::watch;

use super::Hub;
use super::repeated::Repeated;
use super::status::Counter;
use crate::link::{Exchange, Post, PostError, properties};
use crate::notify::events::{self, Event};
use crate::wire::envelope;

/// Changes that are read at a time.
const PIECE: u64 = 500;
/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// Why sending stopped for a while.
#[derive(Debug, thiserror::Error)]
enum Halt {
    #[error("{0}")]
    Bus(#[from] PostError),
    #[error("{0}")]
    Ledger(#[from] Unavailable),
}

/// Sends events.
struct Outbox {
    hub: Arc<Hub>,
    post: Post,
    exchange: Exchange,
    declared: bool,
}

impl Hub {
    /// Sends the ledger's events until it is time to stop.
    pub(super) async fn send_events(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let options = self.settings.load().stowplan_events.clone();
        let exchange = Exchange {
            name: options.exchange,
            kind: lapin::ExchangeKind::Topic,
            durable: true,
            auto_delete: false,
        };
        let post = Post::new(self.dialler.clone());
        let mut outbox = Outbox { hub: self, post, exchange, declared: false };
        let mut changes = outbox.ledger().watch();
        let told = Repeated::default();
        while !*stop.borrow() {
            let wait = match outbox.send_all().await {
                Ok(()) => {
                    told.forget();
                    options.poll_interval
                }
                Err(halt) => {
                    let reason = halt.to_string();
                    match told.is_old(&reason, Instant::now()) {
                        true => tracing::debug!(reason, "events still wait"),
                        false => tracing::warn!(reason, "events wait"),
                    }
                    outbox.declared = false;
                    tokio::select! {
                        () = tokio::time::sleep(PAUSE) => continue,
                        _ = stop.wait_for(|stop| *stop) => break,
                    }
                }
            };
            tokio::select! {
                _ = tokio::time::timeout(wait, changes.changed()) => {}
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        outbox.post.close().await;
    }
}

impl Outbox {
    fn ledger(&self) -> &Ledger {
        self.hub.scheduler.ledger()
    }

    /// Sends all that was not sent. The first time ever, what comes from now on.
    async fn send_all(&mut self) -> Result<(), Halt> {
        let mut sent = match self.ledger().outbox().await? {
            Some(sent) => sent,
            None => {
                let now = self.ledger().image().seq();
                self.ledger().set_outbox(now).await?;
                now
            }
        };
        let mut noted = sent;
        loop {
            let entries = self.ledger().journal(sent, PIECE).await?;
            let Some(last) = entries.last().map(|entry| entry.seq) else { return Ok(()) };
            let missing = entries[0].seq - sent - 1;
            if missing > 0 {
                tracing::error!(missing, "changes were forgotten before their events were sent");
            }
            let mut is_told = false;
            for entry in &entries {
                is_told |= self.send_one(entry).await?;
            }
            sent = last;
            // Changes without events are passed over, but not for ever: the journal is
            // not trimmed beyond what is noted.
            if is_told || sent - noted >= PIECE as i64 {
                self.ledger().set_outbox(sent).await?;
                noted = sent;
            }
        }
    }

    /// Sends the events of one change; false where it has none.
    async fn send_one(&mut self, entry: &Entry) -> Result<bool, Halt> {
        let events = events::of(entry);
        if !events.is_empty() && !self.declared {
            let exchange = self.exchange.clone();
            let declare =
                async |_: &_, channel: &mut lapin::Channel| exchange.declare(channel).await;
            self.post.aside(declare).await?;
            self.declared = true;
        }
        for Event { id, key, body } in &events {
            let properties = properties().with_message_id(id.to_string().into());
            let body = envelope::seal(body);
            self.post.send(&self.exchange.name, key, false, &body, properties).await?;
            self.hub.status.add(Counter::Sent, 1);
        }
        Ok(!events.is_empty())
    }
}

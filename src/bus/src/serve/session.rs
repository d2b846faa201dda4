//! The connection on which calls are consumed: made, declared and consumed, and
//! made anew from the beginning whenever anything of it fails.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::stream::{self, SelectAll, Stream, StreamExt as _};
use lapin::message::Delivery;
use lapin::options::{
    BasicCancelOptions, BasicQosOptions, QueueDeclareOptions, QueueDeleteOptions,
};
use lapin::types::{FieldTable, ShortString};
use lapin::{Channel, Connection, ExchangeKind};
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use super::intake::Arrival;
use super::status::{Counter, Link};
use super::{Hub, freshness};
use crate::link::{Exchange, Failed, Queue, goodbye, is_declared_otherwise};

/// Notifications that the broker sends ahead.
const NOTICES_AHEAD: u32 = 100;
/// How long a broker may take for all declarations.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why a session ended.
#[derive(Debug, Error)]
enum Broken {
    #[error(transparent)]
    NoConnection(#[from] Failed),
    #[error("{0}")]
    Broker(#[from] lapin::Error),
    #[error("the broker took longer than {} s", PATIENCE.as_secs())]
    Slow,
    #[error("queue {0} is gone")]
    QueueGone(Arc<str>),
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feed {
    /// Calls and casts to schedulers.
    Calls,
    /// Copies of them.
    Shadow,
    /// Notifications and reports of hosts.
    Notices,
}

impl Feed {
    const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Shadow => "copies of calls",
            Self::Notices => "notifications",
        }
    }
}

/// A queue to be consumed, with its exchange and the keys that bind it.
struct Source {
    exchange: Exchange,
    queue: Queue,
    keys: Vec<String>,
}

/// What consumers bring.
enum Event {
    Arrived(Arc<str>, Box<lapin::Result<Delivery>>),
    Ended(Arc<str>),
}

type Events = SelectAll<Pin<Box<dyn Stream<Item = Event> + Send>>>;

/// A connection whose queues are consumed.
struct Session {
    connection: Connection,
    channel: Channel,
    broker: String,
    events: Events,
    tags: Vec<String>,
}

impl Hub {
    /// Consumes until it is time to stop.
    pub(super) async fn listen(self: Arc<Self>, feed: Feed, mut stop: watch::Receiver<bool>) {
        let mut failures = 0;
        while !*stop.borrow() {
            let opened = tokio::select! {
                opened = self.open(feed) => opened,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            let broken = match opened {
                Ok(session) => {
                    failures = 0;
                    let Err(broken) = self.run(feed, session, &mut stop).await else { return };
                    self.status.add(Counter::Lost, 1);
                    broken
                }
                Err(broken) => {
                    failures += 1;
                    broken
                }
            };
            self.tell(feed, &broken);
            let pause = self.dialler.pause(failures);
            let _ = tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await;
        }
    }

    fn tell(&self, feed: Feed, broken: &Broken) {
        let (reason, what) = (broken.to_string(), feed.name());
        match broken {
            Broken::NoConnection(Failed::Refused { .. } | Failed::File(_)) => {
                tracing::error!(what, reason, "the message bus does not let us in");
            }
            Broken::Broker(error) if is_declared_otherwise(error) => tracing::error!(
                what,
                reason,
                "a queue or exchange is declared otherwise: [oslo_messaging_rabbit] must be the \
                 same in all services that share it"
            ),
            _ => tracing::warn!(what, reason, "the message bus is away"),
        }
        if feed != Feed::Notices {
            self.status.set(Link::Away { reason });
        }
    }

    /// Connects, declares and begins to consume.
    async fn open(&self, feed: Feed) -> Result<Session, Broken> {
        let (connection, broker) = self.dialler.connect().await?;
        let prepared = tokio::time::timeout(PATIENCE, self.prepare(feed, &connection)).await;
        let (channel, events, tags) = prepared.map_err(|_| Broken::Slow)??;
        tracing::info!(broker, "{} are consumed", feed.name());
        if feed != Feed::Notices {
            self.status.set(Link::Consuming { broker: broker.clone() });
        }
        Ok(Session { connection, channel, broker, events, tags })
    }

    /// The queues of a feed, in the order in which the peer declares them.
    fn sources(&self, feed: Feed) -> Vec<Source> {
        let names = &self.names;
        let of = |exchange: &Exchange, queue: Queue, keys: Vec<String>| Source {
            exchange: exchange.clone(),
            queue,
            keys,
        };
        match feed {
            Feed::Calls => {
                let (topic, fanout) = (names.topic_exchange(None), names.fanout_exchange());
                let (shared, own) = (names.shared_queue(), names.server_queue());
                let (shared_key, own_key) = (vec![shared.name.clone()], vec![own.name.clone()]);
                vec![
                    of(&topic, shared, shared_key.clone()),
                    of(&topic, own, own_key),
                    of(&fanout, names.fanout_queue(), shared_key),
                ]
            }
            Feed::Shadow => {
                let (topic, fanout) = (names.topic_exchange(None), names.fanout_exchange());
                let key = vec![names.shared_queue().name];
                vec![
                    of(&topic, names.shadow_queue(), key.clone()),
                    of(&fanout, names.fanout_queue(), key),
                ]
            }
            Feed::Notices => {
                let options = self.settings.load().stowplan_notifications.clone();
                let mut sources = Vec::new();
                if options.enabled {
                    let exchange = names.topic_exchange(options.exchange.as_deref());
                    let (queue, keys) = names.notices_queue(&options);
                    sources.push(of(&exchange, queue, keys));
                }
                if options.hosts {
                    let (queue, keys) = names.hosts_queue();
                    sources.push(of(&names.topic_exchange(None), queue, keys));
                }
                sources
            }
        }
    }

    async fn prepare(
        &self,
        feed: Feed,
        connection: &Connection,
    ) -> lapin::Result<(Channel, Events, Vec<String>)> {
        let channel = connection.create_channel().await?;
        let prefetch = match feed {
            Feed::Calls | Feed::Shadow => self.options().rabbit_qos_prefetch_count,
            Feed::Notices => NOTICES_AHEAD,
        };
        if let Ok(prefetch @ 1..) = u16::try_from(prefetch) {
            channel.basic_qos(prefetch, BasicQosOptions::default()).await?;
        }
        let sources = self.sources(feed);
        let (mut waiting, began) = (0u32, Instant::now());
        for Source { exchange, queue, keys } in &sources {
            exchange.declare(&channel).await?;
            let count = queue.declare(&channel).await?;
            for key in keys {
                queue.bind(&channel, &exchange.name, key).await?;
            }
            if exchange.kind == ExchangeKind::Topic {
                waiting = waiting.saturating_add(count);
            }
        }
        if feed == Feed::Calls {
            self.freshness.seen(began, Instant::now(), waiting);
        }
        let (mut events, mut tags) = (Events::new(), Vec::new());
        for (Source { queue, .. }, number) in sources.iter().zip(1..) {
            let tag = number.to_string();
            let consumer = queue.consume(&channel, &tag).await?;
            let name: Arc<str> = queue.name.as_str().into();
            let ended = stream::once(std::future::ready(Event::Ended(name.clone())));
            let arrived =
                consumer.map(move |delivery| Event::Arrived(name.clone(), Box::new(delivery)));
            events.push(Box::pin(arrived.chain(ended)));
            tags.push(tag);
        }
        Ok((channel, events, tags))
    }

    /// Reads until something fails, or it is time to stop.
    async fn run(
        self: &Arc<Self>,
        feed: Feed,
        session: Session,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), Broken> {
        let Session { connection, channel, broker, mut events, tags } = session;
        let (arrivals, taken) = mpsc::unbounded_channel();
        let open = Arc::new(AtomicBool::new(true));
        let mut intake = match feed {
            Feed::Calls | Feed::Shadow => {
                tokio::spawn(self.clone().take_in(feed, taken, open.clone()))
            }
            Feed::Notices => tokio::spawn(self.clone().take_notices(taken, open.clone())),
        };
        let mut looks = Box::pin(self.look_at_queues(feed, channel.clone()));
        let ended = loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Event::Arrived(queue, arrived)) => match *arrived {
                        Ok(delivery) => {
                            let sent_after = self.freshness.sent_after();
                            let _ = arrivals.send(Arrival { delivery, queue, sent_after });
                        }
                        Err(error) => break Err(error.into()),
                    },
                    Some(Event::Ended(queue)) => break Err(Broken::QueueGone(queue)),
                    None => break Err(Broken::QueueGone("".into())),
                },
                failed = &mut looks => break Err(failed),
                _ = stop.wait_for(|stop| *stop) => break Ok(()),
            }
        };
        // What was read and not acknowledged by now goes back to the broker.
        open.store(false, Ordering::Relaxed);
        drop(arrivals);
        if tokio::time::timeout(PATIENCE, &mut intake).await.is_err() {
            intake.abort();
        }
        if ended.is_ok() {
            self.leave(feed, &connection, &channel, &tags).await;
            tracing::info!(broker, "{} are consumed no more", feed.name());
        }
        goodbye(&connection).await;
        ended
    }

    /// Looks at the queues of calls, to know when they were empty.
    async fn look_at_queues(self: &Arc<Self>, feed: Feed, channel: Channel) -> Broken {
        if feed != Feed::Calls {
            return std::future::pending().await;
        }
        let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let queues = [self.names.shared_queue(), self.names.server_queue()];
        loop {
            tokio::time::sleep(freshness::INTERVAL).await;
            let began = Instant::now();
            let mut waiting = 0u32;
            for queue in &queues {
                let name = ShortString::from(queue.name.as_str());
                match channel.queue_declare(name, passive, FieldTable::default()).await {
                    Ok(queue) => waiting = waiting.saturating_add(queue.message_count()),
                    Err(error) => return error.into(),
                }
            }
            self.freshness.seen(began, Instant::now(), waiting);
        }
    }

    /// Takes leave of a broker: no more messages, and the queue of this process
    /// goes.
    async fn leave(&self, feed: Feed, connection: &Connection, channel: &Channel, tags: &[String]) {
        let leave = async {
            for tag in tags {
                let tag = ShortString::from(tag.as_str());
                channel.basic_cancel(tag, BasicCancelOptions::default()).await?;
            }
            if feed != Feed::Notices && self.names.fanout_queue_is_ours() {
                let name = ShortString::from(self.names.fanout_queue().name);
                channel.queue_delete(name, QueueDeleteOptions::default()).await?;
            }
            Ok::<_, lapin::Error>(())
        };
        if connection.status().connected()
            && !matches!(tokio::time::timeout(PATIENCE, leave).await, Ok(Ok(())))
        {
            tracing::debug!("the broker was left without a goodbye");
        }
    }
}

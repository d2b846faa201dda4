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
use lapin::{Channel, Connection};
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use super::intake::Arrival;
use super::status::{Counter, Link};
use super::{Hub, freshness};
use crate::link::{Exchange, Failed, Queue, goodbye, is_declared_otherwise};

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
    /// Consumes calls until it is time to stop.
    pub(super) async fn listen(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut failures = 0;
        while !*stop.borrow() {
            let opened = tokio::select! {
                opened = self.open() => opened,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            let broken = match opened {
                Ok(session) => {
                    failures = 0;
                    let Err(broken) = self.run(session, &mut stop).await else { return };
                    self.status.add(Counter::Lost, 1);
                    broken
                }
                Err(broken) => {
                    failures += 1;
                    broken
                }
            };
            self.tell(&broken);
            let pause = self.dialler.pause(failures);
            let _ = tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await;
        }
    }

    fn tell(&self, broken: &Broken) {
        let reason = broken.to_string();
        match broken {
            Broken::NoConnection(Failed::Refused { .. } | Failed::File(_)) => {
                tracing::error!(reason, "the message bus does not let us in");
            }
            Broken::Broker(error) if is_declared_otherwise(error) => tracing::error!(
                reason,
                "a queue or exchange is declared otherwise: [oslo_messaging_rabbit] must be the \
                 same in all services that share it"
            ),
            _ => tracing::warn!(reason, "the message bus is away"),
        }
        self.status.set(Link::Away { reason });
    }

    /// Connects, declares and begins to consume.
    async fn open(&self) -> Result<Session, Broken> {
        let (connection, broker) = self.dialler.connect().await?;
        let prepared = tokio::time::timeout(PATIENCE, self.prepare(&connection)).await;
        let (channel, events, tags) = prepared.map_err(|_| Broken::Slow)??;
        tracing::info!(broker, "calls are consumed");
        self.status.set(Link::Consuming { broker: broker.clone() });
        Ok(Session { connection, channel, broker, events, tags })
    }

    async fn prepare(
        &self,
        connection: &Connection,
    ) -> lapin::Result<(Channel, Events, Vec<String>)> {
        let channel = connection.create_channel().await?;
        let prefetch = self.options().rabbit_qos_prefetch_count;
        if let Ok(prefetch @ 1..) = u16::try_from(prefetch) {
            channel.basic_qos(prefetch, BasicQosOptions::default()).await?;
        }
        let names = &self.names;
        let (topic, fanout) = (names.topic_exchange(None), names.fanout_exchange());
        let queues: [(&Exchange, Queue, &str); 3] = [
            (&topic, names.shared_queue(), ""),
            (&topic, names.server_queue(), ""),
            (&fanout, names.fanout_queue(), "scheduler"),
        ];
        let (mut waiting, began) = (0u32, Instant::now());
        for (exchange, queue, key) in &queues {
            exchange.declare(&channel).await?;
            let count = queue.declare(&channel).await?;
            let key = if key.is_empty() { &queue.name } else { *key };
            queue.bind(&channel, &exchange.name, key).await?;
            if exchange.name == topic.name {
                waiting = waiting.saturating_add(count);
            }
        }
        self.freshness.seen(began, Instant::now(), waiting);
        let (mut events, mut tags) = (Events::new(), Vec::new());
        for ((_, queue, _), number) in queues.iter().zip(1..) {
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
        session: Session,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), Broken> {
        let Session { connection, channel, broker, mut events, tags } = session;
        let (arrivals, taken) = mpsc::unbounded_channel();
        let open = Arc::new(AtomicBool::new(true));
        let mut intake = tokio::spawn(self.clone().take_in(taken, open.clone()));
        let mut looks = Box::pin(self.look_at_queues(channel.clone()));
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
            self.leave(&connection, &channel, &tags).await;
            tracing::info!(broker, "calls are consumed no more");
        }
        goodbye(&connection).await;
        ended
    }

    /// Looks at the queues of calls, to know when they were empty.
    async fn look_at_queues(self: &Arc<Self>, channel: Channel) -> Broken {
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
    async fn leave(&self, connection: &Connection, channel: &Channel, tags: &[String]) {
        let leave = async {
            for tag in tags {
                let tag = ShortString::from(tag.as_str());
                channel.basic_cancel(tag, BasicCancelOptions::default()).await?;
            }
            if self.names.fanout_queue_is_ours() {
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

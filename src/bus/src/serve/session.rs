//! The connections on which messages are consumed: each is made, declared and
//! consumed, and made anew from the beginning whenever anything of it fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use lapin::options::{BasicCancelOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Connection};
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use super::feed::{Event, Feed, Session};
use super::intake::Arrival;
use super::repeated::Repeated;
use super::status::{Counter, Link};
use super::{Hub, freshness};
use crate::link::{Failed, goodbye, is_declared_otherwise, short};

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

impl Hub {
    /// Consumes until it is time to stop.
    pub(super) async fn listen(self: Arc<Self>, feed: Feed, mut stop: watch::Receiver<bool>) {
        let (mut failures, told) = (0u32, Repeated::default());
        while !*stop.borrow() {
            let opened = tokio::select! {
                opened = self.open(feed) => opened,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            let broken = match opened {
                Ok(session) => {
                    failures = 0;
                    told.forget();
                    let Err(broken) = self.run(feed, session, &mut stop).await else { return };
                    self.status.add(Counter::Lost, 1);
                    broken
                }
                Err(broken) => {
                    failures = failures.saturating_add(1);
                    broken
                }
            };
            self.tell(feed, &broken, &told);
            let pause = self.dialler.pause(failures);
            let _ = tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await;
        }
    }

    fn tell(&self, feed: Feed, broken: &Broken, told: &Repeated) {
        let (reason, what) = (broken.to_string(), feed.name());
        match broken {
            _ if told.is_old(&reason, Instant::now()) => {
                tracing::debug!(what, reason, "the message bus is still away");
            }
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
        let prepared = self.prepare(feed, connection, broker);
        let session = tokio::time::timeout(PATIENCE, prepared).await;
        let session = session.map_err(|_| Broken::Slow)??;
        tracing::info!(broker = session.broker, "{} are consumed", feed.name());
        if feed != Feed::Notices {
            self.status.set(Link::Consuming { broker: session.broker.clone() });
        }
        Ok(session)
    }

    /// Reads until something fails, or it is time to stop.
    async fn run(
        self: &Arc<Self>,
        feed: Feed,
        session: Session,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), Broken> {
        let Session { connection, channel, broker, mut events, tags } = session;
        // The broker sends no more ahead than it was told.
        let (arrivals, taken) = mpsc::unbounded_channel();
        let (close, closed) = watch::channel(false);
        let mut intake = match feed {
            Feed::Calls | Feed::Shadow => tokio::spawn(self.clone().take_in(feed, taken, closed)),
            Feed::Notices => tokio::spawn(self.clone().take_notices(taken, closed)),
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
        close.send_replace(true);
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
                let name = short(&queue.name);
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
                let tag = short(tag);
                channel.basic_cancel(tag, BasicCancelOptions::default()).await?;
            }
            if feed != Feed::Notices && self.names.fanout_queue_is_ours() {
                let name = short(&self.names.fanout_queue().name);
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

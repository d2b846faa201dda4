//! A connection whose queues are consumed: what it is for, and how it is made
//! ready.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self, SelectAll, Stream, StreamExt as _};
use lapin::message::Delivery;
use lapin::options::BasicQosOptions;
use lapin::{Channel, Connection, ExchangeKind};

use super::Hub;
use crate::link::Source;

/// Notifications that the broker sends ahead.
const NOTICES_AHEAD: u32 = 100;

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
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Shadow => "copies of calls",
            Self::Notices => "notifications",
        }
    }
}

/// What consumers bring.
pub(super) enum Event {
    /// A message, or why there are no more.
    Arrived(Arc<str>, Box<lapin::Result<Delivery>>),
    /// The queue of this name is gone.
    Ended(Arc<str>),
}

pub(super) type Events = SelectAll<Pin<Box<dyn Stream<Item = Event> + Send>>>;

/// A connection whose queues are consumed.
pub(super) struct Session {
    pub connection: Connection,
    pub channel: Channel,
    pub broker: String,
    pub events: Events,
    pub tags: Vec<String>,
}

impl Hub {
    fn sources(&self, feed: Feed) -> Vec<Source> {
        match feed {
            Feed::Calls => self.names.calls(),
            Feed::Shadow => self.names.copies(),
            Feed::Notices => self.names.notices(&self.settings.load().stowplan_notifications),
        }
    }

    /// How many messages the broker sends ahead. Without a bound it would send all
    /// that it has, and they would wait here; calls are acknowledged on receipt, so
    /// a few more than are worked on will do.
    fn ahead(&self, feed: Feed) -> u16 {
        let ahead = match feed {
            Feed::Notices => NOTICES_AHEAD,
            Feed::Calls | Feed::Shadow => match self.options().rabbit_qos_prefetch_count {
                0 => self.settings.load().stowplan_rpc.max_in_flight,
                ahead => ahead,
            },
        };
        u16::try_from(ahead).unwrap_or(u16::MAX)
    }

    /// Declares the queues of a feed, in the order in which the peer does, and begins
    /// to consume them.
    pub(super) async fn prepare(
        &self,
        feed: Feed,
        connection: Connection,
        broker: String,
    ) -> lapin::Result<Session> {
        let mut channel = connection.create_channel().await?;
        let sources = self.sources(feed);
        let (mut waiting, began) = (0u32, Instant::now());
        for source in &sources {
            let count = source.declare(&connection, &mut channel).await?;
            if source.exchange.kind == ExchangeKind::Topic {
                waiting = waiting.saturating_add(count);
            }
        }
        if feed == Feed::Calls {
            self.freshness.seen(began, Instant::now(), waiting);
        }
        channel.basic_qos(self.ahead(feed), BasicQosOptions::default()).await?;
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
        Ok(Session { connection, channel, broker, events, tags })
    }
}

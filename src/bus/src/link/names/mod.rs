//! Names of exchanges and queues, and how each is declared: those of the peers to
//! the letter, for a queue that is declared in two ways is refused.

mod arguments;

use lapin::types::FieldTable;
use stowplan_config::{NotificationsIn, Rabbit, Settings};
use uuid::Uuid;

use super::declare::{Exchange, Queue, Source};
use arguments::{consume, number, quorum, text};

/// The topic of the scheduler.
const TOPIC: &str = "scheduler";
/// The queue of copies of calls.
const SHADOW: &str = "stowplan.shadow";
/// Priorities of notifications that are listened to.
const PRIORITIES: [&str; 3] = ["info", "warn", "error"];
/// Notifications that wait for us at most.
const MOST_NOTICES: i64 = 100_000;
/// Milliseconds in a second.
const MS: i64 = 1000;

/// The names of one process.
#[derive(Clone, Debug)]
pub struct Names {
    exchange: String,
    server: String,
    fanout_queue: String,
    options: Rabbit,
}

/// What the names of things depend on, apart from options.
impl Names {
    /// The topic of reports of hosts, and the queue that they are read from.
    pub const HOSTS: &str = "stowplan.hosts";

    /// `host` is the name of the service, `hostname` that of the machine.
    #[must_use]
    pub fn new(settings: &Settings, host: &str, hostname: &str) -> Self {
        let options = settings.oslo_messaging_rabbit.clone();
        let fanout = format!("{TOPIC}_fanout");
        let fanout_queue = if options.rabbit_stream_fanout {
            fanout
        } else if options.use_queue_manager {
            let hostname = options.hostname.as_deref().unwrap_or(hostname);
            format!("{fanout}_{hostname}:{}:1", options.processname)
        } else {
            format!("{fanout}_{}", Uuid::new_v4().simple())
        };
        Self {
            exchange: settings.default.control_exchange.clone(),
            server: host.to_owned(),
            fanout_queue,
            options,
        }
    }

    /// The exchange of calls and notifications.
    #[must_use]
    pub fn topic_exchange(&self, name: Option<&str>) -> Exchange {
        let options = &self.options;
        Exchange {
            name: name.unwrap_or(&self.exchange).to_owned(),
            kind: lapin::ExchangeKind::Topic,
            durable: options.amqp_durable_queues || options.rabbit_quorum_queue,
            auto_delete: options.amqp_auto_delete,
        }
    }

    /// The exchange of casts to all schedulers.
    #[must_use]
    pub fn fanout_exchange(&self) -> Exchange {
        let options = &self.options;
        Exchange {
            name: format!("{TOPIC}_fanout"),
            kind: lapin::ExchangeKind::Fanout,
            durable: options.rabbit_transient_quorum_queue || options.rabbit_stream_fanout,
            auto_delete: true,
        }
    }

    /// A queue of a topic.
    #[must_use]
    pub fn topic_queue(&self, name: &str) -> Queue {
        let options = &self.options;
        let mut arguments = FieldTable::default();
        if options.rabbit_ha_queues {
            text(&mut arguments, "x-ha-policy", "all");
        }
        if options.rabbit_quorum_queue {
            quorum(options, &mut arguments);
        }
        Queue {
            name: name.to_owned(),
            durable: options.amqp_durable_queues || options.rabbit_quorum_queue,
            auto_delete: options.amqp_auto_delete,
            arguments,
            consume: consume(options),
        }
    }

    /// The queue that all schedulers share.
    #[must_use]
    pub fn shared_queue(&self) -> Queue {
        self.topic_queue(TOPIC)
    }

    /// The queue of copies of calls, which are compared and never answered. What
    /// nobody fetches pushes out the oldest.
    #[must_use]
    pub fn shadow_queue(&self) -> Queue {
        let mut queue = self.topic_queue(SHADOW);
        number(&mut queue.arguments, "x-max-length", MOST_NOTICES);
        queue
    }

    /// The queue of this server alone.
    #[must_use]
    pub fn server_queue(&self) -> Queue {
        self.topic_queue(&format!("{TOPIC}.{}", self.server))
    }

    /// The queue of what is sent to all schedulers.
    #[must_use]
    pub fn fanout_queue(&self) -> Queue {
        let options = &self.options;
        let ttl = i64::from(options.rabbit_transient_queues_ttl);
        let (mut arguments, mut consumed) = (FieldTable::default(), consume(options));
        if options.rabbit_ha_queues {
            text(&mut arguments, "x-ha-policy", "all");
        }
        if options.rabbit_stream_fanout {
            text(&mut arguments, "x-queue-type", "stream");
            if ttl > 0 {
                text(&mut arguments, "x-max-age", &format!("{ttl}s"));
            }
            text(&mut consumed, "x-stream-offset", "last");
        } else {
            if options.rabbit_transient_quorum_queue {
                quorum(options, &mut arguments);
            }
            if ttl > 0 {
                number(&mut arguments, "x-expires", ttl * MS);
            }
        }
        Queue {
            name: self.fanout_queue.clone(),
            durable: options.rabbit_transient_quorum_queue || options.rabbit_stream_fanout,
            auto_delete: false,
            arguments,
            consume: consumed,
        }
    }

    /// The queue of notifications that is ours, with the keys that it is bound by.
    /// Messages that nobody fetches push out the oldest.
    #[must_use]
    pub fn notices_queue(&self, options: &NotificationsIn) -> (Queue, Vec<String>) {
        let mut queue = self.topic_queue(&options.pool);
        number(&mut queue.arguments, "x-max-length", MOST_NOTICES);
        let topics = options.topics.iter();
        let keys =
            topics.flat_map(|topic| PRIORITIES.map(|priority| format!("{topic}.{priority}")));
        (queue, keys.collect())
    }

    /// The queue of reports of hosts, with the keys that it is bound by.
    #[must_use]
    pub fn hosts_queue(&self) -> (Queue, Vec<String>) {
        let mut queue = self.topic_queue(Self::HOSTS);
        number(&mut queue.arguments, "x-max-length", MOST_NOTICES);
        (queue, vec![Self::HOSTS.to_owned(), format!("{}.#", Self::HOSTS)])
    }

    /// What calls and casts are read from, in the order in which the peer declares it.
    #[must_use]
    pub fn calls(&self) -> Vec<Source> {
        let (shared, own) = (self.shared_queue(), self.server_queue());
        let key = shared.name.clone();
        vec![
            Source { keys: vec![key.clone()], exchange: self.topic_exchange(None), queue: shared },
            Source {
                keys: vec![own.name.clone()],
                exchange: self.topic_exchange(None),
                queue: own,
            },
            Source {
                keys: vec![key],
                exchange: self.fanout_exchange(),
                queue: self.fanout_queue(),
            },
        ]
    }

    /// What copies of calls, and casts, are read from.
    #[must_use]
    pub fn copies(&self) -> Vec<Source> {
        let keys = vec![TOPIC.to_owned()];
        let (copies, fanout) = (self.shadow_queue(), self.fanout_queue());
        vec![
            Source { keys: keys.clone(), exchange: self.topic_exchange(None), queue: copies },
            Source { keys, exchange: self.fanout_exchange(), queue: fanout },
        ]
    }

    /// What notifications and reports of hosts are read from.
    #[must_use]
    pub fn notices(&self, options: &NotificationsIn) -> Vec<Source> {
        let mut sources = Vec::new();
        if options.enabled {
            let exchange = self.topic_exchange(options.exchange.as_deref());
            let (queue, keys) = self.notices_queue(options);
            sources.push(Source { exchange, queue, keys });
        }
        if options.hosts {
            let (queue, keys) = self.hosts_queue();
            sources.push(Source { exchange: self.topic_exchange(None), queue, keys });
        }
        sources
    }

    /// Whether the fanout queue goes with this process.
    #[must_use]
    pub fn fanout_queue_is_ours(&self) -> bool {
        !(self.options.use_queue_manager || self.options.rabbit_stream_fanout)
    }
}

#[cfg(test)]
mod tests;

//! Names of exchanges and queues, and how each is declared: those of the peers to
//! the letter, for a queue that is declared in two ways is refused.

use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use stowplan_config::{NotificationsIn, Rabbit, Settings};
use uuid::Uuid;

use super::declare::{Exchange, Queue};

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
            self.quorum(&mut arguments);
        }
        Queue {
            name: name.to_owned(),
            durable: options.amqp_durable_queues || options.rabbit_quorum_queue,
            auto_delete: options.amqp_auto_delete,
            arguments,
            consume: self.consume_arguments(),
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
        let (mut arguments, mut consume) = (FieldTable::default(), self.consume_arguments());
        if options.rabbit_ha_queues {
            text(&mut arguments, "x-ha-policy", "all");
        }
        if options.rabbit_stream_fanout {
            text(&mut arguments, "x-queue-type", "stream");
            if ttl > 0 {
                text(&mut arguments, "x-max-age", &format!("{ttl}s"));
            }
            text(&mut consume, "x-stream-offset", "last");
        } else {
            if options.rabbit_transient_quorum_queue {
                self.quorum(&mut arguments);
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
            consume,
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

    /// Whether the fanout queue goes with this process.
    #[must_use]
    pub fn fanout_queue_is_ours(&self) -> bool {
        !(self.options.use_queue_manager || self.options.rabbit_stream_fanout)
    }

    fn quorum(&self, arguments: &mut FieldTable) {
        let options = &self.options;
        text(arguments, "x-queue-type", "quorum");
        for (name, value) in [
            ("x-delivery-limit", options.rabbit_quorum_delivery_limit),
            ("x-max-in-memory-length", options.rabbit_quorum_max_memory_length),
            ("x-max-in-memory-bytes", options.rabbit_quorum_max_memory_bytes),
        ] {
            if value > 0 {
                number(arguments, name, i64::from(value));
            }
        }
    }

    fn consume_arguments(&self) -> FieldTable {
        let mut arguments = FieldTable::default();
        if self.options.enable_cancel_on_failover {
            let value = AMQPValue::Boolean(true);
            arguments.insert(ShortString::from("x-cancel-on-ha-failover"), value);
        }
        arguments
    }
}

fn text(table: &mut FieldTable, name: &str, value: &str) {
    table.insert(ShortString::from(name), AMQPValue::LongString(LongString::from(value)));
}

/// As the peers: the smallest type of number that holds it.
fn number(table: &mut FieldTable, name: &str, value: i64) {
    let value = match i32::try_from(value) {
        Ok(value) => AMQPValue::LongInt(value),
        Err(_) => AMQPValue::LongLongInt(value),
    };
    table.insert(ShortString::from(name), value);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn shown(queue: &Queue) -> String {
        let arguments: Vec<String> = queue
            .arguments
            .inner()
            .iter()
            .map(|(name, value)| match value {
                AMQPValue::LongString(text) => format!("{name}={text}"),
                AMQPValue::LongInt(number) => format!("{name}={number}"),
                other => format!("{name}={other:?}"),
            })
            .collect();
        format!("{} {} {}", queue.durable, queue.auto_delete, arguments.join(" "))
    }

    fn names(set: impl Fn(&mut Rabbit)) -> Names {
        let mut settings = Settings::default();
        set(&mut settings.oslo_messaging_rabbit);
        Names::new(&settings, "sched-1", "machine")
    }

    #[test]
    fn declarations_are_those_of_the_peers() {
        let expires = "x-expires=1800000";
        for (set, exchange, topic, fanout_exchange, fanout) in [
            (
                (|_| {}) as fn(&mut Rabbit),
                (false, false),
                "false false ",
                false,
                format!("false false {expires}"),
            ),
            (
                |o| o.amqp_durable_queues = true,
                (true, false),
                "true false ",
                false,
                format!("false false {expires}"),
            ),
            (
                |o| o.amqp_auto_delete = true,
                (false, true),
                "false true ",
                false,
                format!("false false {expires}"),
            ),
            (
                |o| o.rabbit_quorum_queue = true,
                (true, false),
                "true false x-queue-type=quorum",
                false,
                format!("false false {expires}"),
            ),
            (
                |o| {
                    o.rabbit_quorum_queue = true;
                    o.rabbit_quorum_delivery_limit = 3;
                },
                (true, false),
                "true false x-delivery-limit=3 x-queue-type=quorum",
                false,
                format!("false false {expires}"),
            ),
            (
                |o| o.rabbit_transient_quorum_queue = true,
                (false, false),
                "false false ",
                true,
                format!("true false {expires} x-queue-type=quorum"),
            ),
            (
                |o| {
                    o.rabbit_transient_quorum_queue = true;
                    o.rabbit_stream_fanout = true;
                },
                (false, false),
                "false false ",
                true,
                "true false x-max-age=1800s x-queue-type=stream".to_owned(),
            ),
            (
                |o| o.rabbit_ha_queues = true,
                (false, false),
                "false false x-ha-policy=all",
                false,
                format!("false false {expires} x-ha-policy=all"),
            ),
            (
                |o| o.rabbit_transient_queues_ttl = 0,
                (false, false),
                "false false ",
                false,
                "false false ".to_owned(),
            ),
        ] {
            let names = names(set);
            let shared = names.topic_exchange(None);
            assert_eq!((shared.durable, shared.auto_delete), exchange);
            assert_eq!(shown(&names.shared_queue()), topic);
            assert_eq!(names.fanout_exchange().durable, fanout_exchange);
            assert_eq!(shown(&names.fanout_queue()), fanout);
        }
    }

    #[test]
    fn names_are_those_of_the_peers() {
        let plain = names(|_| {});
        assert_eq!(plain.server_queue().name, "scheduler.sched-1");
        assert_eq!(plain.fanout_queue().name.len(), "scheduler_fanout_".len() + 32);
        assert!(plain.fanout_queue_is_ours());
        let managed = names(|options| options.use_queue_manager = true);
        assert_eq!(managed.fanout_queue().name, "scheduler_fanout_machine:stowplan:1");
        let stream = names(|options| options.rabbit_stream_fanout = true);
        assert_eq!(stream.fanout_queue().name, "scheduler_fanout");
    }
}

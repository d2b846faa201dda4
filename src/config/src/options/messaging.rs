//! The message bus: RabbitMQ as oslo.messaging speaks it, and what stowplan adds.

use std::path::PathBuf;
use std::time::Duration;

use super::list;
use crate::macros::{choice, section};

choice! {
    /// How the service logs in.
    LoginMethod {
        /// User and password as two texts.
        Plain = "PLAIN",
        /// User and password as a table.
        Amqplain = "AMQPLAIN",
        /// By the certificate of the connection.
        External = "EXTERNAL",
    }
}

choice! {
    /// Which host of several is tried after one that failed.
    FailoverStrategy {
        /// The next one.
        RoundRobin = "round-robin",
        /// Any, by chance.
        Shuffle = "shuffle",
    }
}

section! {
    /// RabbitMQ. Where options say how queues are declared, all services that share
    /// a queue must agree. Options in the query of transport_url win.
    oslo_messaging_rabbit: Rabbit = "oslo_messaging_rabbit" {
        /// Declare the exchange and the queues of topics durable.
        amqp_durable_queues: bool = false, older(&[("oslo_messaging_rabbit", "rabbit_durable_queues")]);
        /// Let the exchange and the queues of topics go with their last user.
        amqp_auto_delete: bool = false;
        /// Connect over TLS.
        ssl: bool = false, older(&[("oslo_messaging_rabbit", "rabbit_use_ssl")]);
        /// Certificates (PEM) that the server's is checked against, beside those of
        /// the system.
        ssl_ca_file: Option<PathBuf> = None, older(&[("oslo_messaging_rabbit", "kombu_ssl_ca_certs")]);
        /// Certificate (PEM) that the service shows.
        ssl_cert_file: Option<PathBuf> = None, older(&[("oslo_messaging_rabbit", "kombu_ssl_certfile")]);
        /// Key (PEM) of ssl_cert_file.
        ssl_key_file: Option<PathBuf> = None, older(&[("oslo_messaging_rabbit", "kombu_ssl_keyfile")]);
        /// Ask for this version of TLS. 1.2 and 1.3 are spoken; the option is accepted
        /// and changes nothing.
        ssl_version: Option<String> = None, older(&[("oslo_messaging_rabbit", "kombu_ssl_version")]);
        /// Seconds to wait after a connection was lost before the first try to get it
        /// back.
        kombu_reconnect_delay: f64 = 1.0, min(0.0), max(60.0);
        /// Which host of several is tried after one that failed.
        kombu_failover_strategy: FailoverStrategy = FailoverStrategy::RoundRobin;
        /// Seconds that a reply is tried again while its queue is missing; then what
        /// it answers is undone.
        kombu_missing_consumer_retry_timeout: u32 = 60, min(1.0), max(3600.0), older(&[("oslo_messaging_rabbit", "kombu_reconnect_timeout")]);
        /// How the service logs in.
        rabbit_login_method: LoginMethod = LoginMethod::Amqplain;
        /// Seconds to wait after a round in which no host could be reached.
        rabbit_retry_interval: f64 = 1.0, min(0.1), max(60.0);
        /// Seconds by which that wait grows with each round.
        rabbit_retry_backoff: f64 = 2.0, min(0.0), max(60.0);
        /// Seconds of that wait at most; 8 where brokers refuse at once.
        rabbit_interval_max: f64 = 30.0, min(1.0), max(300.0);
        /// Declare queues with x-ha-policy=all, for brokers that mirror by it.
        rabbit_ha_queues: bool = false;
        /// Use quorum queues for topics.
        rabbit_quorum_queue: bool = false;
        /// Use quorum queues for replies and fanout, too.
        rabbit_transient_quorum_queue: bool = false;
        /// How often a quorum queue delivers one message at most; 0: the broker's limit.
        rabbit_quorum_delivery_limit: u32 = 0;
        /// Messages that a quorum queue holds in memory at most; 0: the broker's limit.
        rabbit_quorum_max_memory_length: u32 = 0, older(&[("oslo_messaging_rabbit", "rabbit_quroum_max_memory_length")]);
        /// Bytes that a quorum queue holds in memory at most; 0: the broker's limit.
        rabbit_quorum_max_memory_bytes: u32 = 0, older(&[("oslo_messaging_rabbit", "rabbit_quroum_max_memory_bytes")]);
        /// Seconds after which an unused fanout queue goes; 0: never.
        rabbit_transient_queues_ttl: u32 = 1800;
        /// Messages that the broker sends ahead; 0: all that it has.
        rabbit_qos_prefetch_count: u32 = 0, max(65535.0);
        /// Have the broker say when a queue moved to another of its nodes.
        enable_cancel_on_failover: bool = false;
        /// Use one stream for fanout; needs rabbit_transient_quorum_queue and
        /// rabbit_qos_prefetch_count.
        rabbit_stream_fanout: bool = false;
        /// Seconds between two signs of life on a connection; half-open ones are found
        /// after twice that. 0: none are sent.
        heartbeat_timeout_threshold: u32 = 60, max(65535.0);
        /// Signs of life in that time. Two are sent always; the option is accepted and
        /// changes nothing.
        heartbeat_rate: u32 = 3;
        /// Send signs of life from a thread of their own. Always done; the option is
        /// accepted and changes nothing.
        heartbeat_in_pthread: bool = false;
        /// Name fanout queues after host and process, so that a restart finds them.
        use_queue_manager: bool = false;
        /// Name of this host in the names of queues; unset: the host name of the
        /// machine.
        hostname: Option<String> = None, sample("<host name>");
        /// Name of this process in the names of queues.
        processname: String = "stowplan".to_owned();
    }
}

section! {
    /// Whether notifications are sent.
    oslo_messaging_notifications: OsloNotifications = "oslo_messaging_notifications" {
        /// Drivers that send them: messagingv2, messaging, log, noop; unset: none.
        driver: Vec<String> = Vec::new(), multi, class_path, one_of(&["messagingv2", "messaging", "log", "noop", "routing", "test"]), older(&[("DEFAULT", "notification_driver")]);
        /// Bus that they are sent to: only that of [DEFAULT] transport_url.
        transport_url: Option<crate::value::SecretUrl> = None, secret;
        /// Topics of notifications in the old form.
        topics: Vec<String> = list(&["notifications"]), older(&[("DEFAULT", "notification_topics")]);
        /// How often a notification that could not be sent is tried again; -1: for ever.
        retry: i64 = -1, min(-1.0);
    }
}

section! {
    /// State that is learnt from the notifications of other services.
    stowplan_notifications: NotificationsIn = "stowplan_notifications" {
        /// Listen to versioned notifications, if there is a bus.
        enabled: bool = true;
        /// Queue of our own that they are read from, beside those of other services;
        /// processes of one service share it.
        pool: String = "stowplan".to_owned();
        /// Topics that are listened to.
        topics: Vec<String> = list(&["versioned_notifications"]);
        /// Exchange that they come through; unset: control_exchange.
        exchange: Option<String> = None;
        /// Take reports of hosts from the topic stowplan.hosts.
        hosts: bool = true;
    }
}

section! {
    /// What changes in the ledger, told on the message bus.
    stowplan_events: Events = "stowplan_events" {
        /// Send events, if there is a bus.
        enabled: bool = false;
        /// Topic exchange that they are sent to.
        exchange: String = "stowplan".to_owned();
        /// Time between two looks for events to send, when no change tells of them.
        poll_interval: Duration = Duration::from_secs(5), min(0.1);
    }
}

section! {
    /// Calls over the message bus.
    stowplan_rpc: Rpc = "stowplan_rpc" {
        /// Calls that are worked on at the same time.
        max_in_flight: u32 = 64, min(1.0), max(65535.0);
        /// How long answers are kept for calls that come a second time.
        answers_max_age: Duration = Duration::from_secs(1800), min(60.0), mutable;
        /// Most answers that are kept.
        answers_max_rows: u32 = 20_000, min(100.0), mutable;
        /// Queue that takes a copy of each message that cannot be read.
        dead_queue: String = "stowplan.dead".to_owned();
        /// Most messages that this queue keeps.
        dead_max_length: u32 = 10_000, min(1.0);
    }
}

impl NotificationsIn {
    /// Whether there is anything to listen to.
    pub fn is_on(&self) -> bool {
        self.enabled || self.hosts
    }
}

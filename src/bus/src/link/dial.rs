//! How a connection is made: the brokers in turn, with a pause that grows.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use lapin::types::ReplyCode;
use lapin::{Connection, ConnectionProperties, ErrorKind};
use stowplan_config::{FailoverStrategy, Rabbit, TransportUrl};
use thiserror::Error;

use super::address::{self, UnreadableFile};

/// How long a broker may take to greet: the library itself would wait for ever.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The longest pause, in seconds, after brokers that refuse at once.
const SOON: f64 = 8.0;
/// What a connection or channel is closed with when nothing is wrong.
pub(super) const NORMAL: ReplyCode = 200;
/// How long a closing connection is waited for.
const GOODBYE: Duration = Duration::from_secs(2);

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum Failed {
    /// The broker could not be reached, or broke the connection off.
    #[error("{broker}: {problem}")]
    Unreachable {
        /// The broker.
        broker: String,
        /// What happened.
        problem: String,
    },
    /// The broker does not let us in: trying again will not help until somebody
    /// changes something.
    #[error("{broker} refuses us: {problem}")]
    Refused {
        /// The broker.
        broker: String,
        /// What it said.
        problem: String,
    },
    /// A file of TLS cannot be read.
    #[error(transparent)]
    File(#[from] UnreadableFile),
}

/// Makes connections, to one broker after the other.
pub struct Dialler {
    url: TransportUrl,
    options: Rabbit,
    name: String,
    /// The broker that is tried next.
    next: AtomicUsize,
    /// Whether the last one tried took us and then kept silent.
    silent: AtomicBool,
}

impl Dialler {
    /// `name` is what the brokers show of our connections.
    #[must_use]
    pub fn new(url: TransportUrl, options: Rabbit, name: String) -> Self {
        // As the peers: the first broker is drawn once.
        let first = fastrand::usize(..url.brokers.len().max(1));
        Self { url, options, name, next: AtomicUsize::new(first), silent: AtomicBool::new(false) }
    }

    /// The options of connections.
    #[must_use]
    pub fn options(&self) -> &Rabbit {
        &self.options
    }

    /// Connects to the next broker. Gives its address, too.
    ///
    /// # Errors
    /// When it cannot be reached, does not let us in, or does not speak in time.
    pub async fn connect(&self) -> Result<(Connection, String), Failed> {
        let count = self.url.brokers.len();
        let turn = match self.options.kombu_failover_strategy {
            FailoverStrategy::RoundRobin => self.next.load(Ordering::Relaxed),
            FailoverStrategy::Shuffle => fastrand::usize(..),
        };
        let broker = &self.url.brokers[turn % count];
        let said = broker.to_string();
        let made = self.dial(address::uri(&self.url, broker, &self.options)).await;
        self.silent.store(matches!(made, Err(Dial::Slow)), Ordering::Relaxed);
        if made.is_err() {
            self.next.store(turn.wrapping_add(1) % count, Ordering::Relaxed);
        }
        match made {
            Ok(connection) => Ok((connection, said)),
            Err(Dial::File(error)) => Err(error.into()),
            Err(Dial::Slow) => Err(Failed::Unreachable {
                broker: said,
                problem: format!("no greeting within {} s", HANDSHAKE.as_secs()),
            }),
            Err(Dial::Error(error)) => Err(failure(said, &error)),
        }
    }

    async fn dial(&self, uri: lapin::uri::AMQPUri) -> Result<Connection, Dial> {
        let tls = address::tls(&self.options)?;
        let id = uuid::Uuid::new_v4();
        let properties = ConnectionProperties::default()
            .with_connection_name(format!("{}:{}:{id}", self.name, std::process::id()).into());
        let runtime = lapin::runtime::default_runtime()?;
        let connect = Connection::connect_uri_with_config(uri, properties, tls, runtime);
        match tokio::time::timeout(HANDSHAKE, connect).await {
            Ok(made) => Ok(made?),
            Err(_) => Err(Dial::Slow),
        }
    }

    /// How long to wait after `failures` tries in a row that failed. After each
    /// round over all brokers it grows; a part of it is chance, so that not all
    /// services come back in the same moment.
    #[must_use]
    pub fn pause(&self, failures: u32) -> Duration {
        if failures == 0 {
            return Duration::from_secs_f64(self.options.kombu_reconnect_delay);
        }
        let brokers = u32::try_from(self.url.brokers.len()).unwrap_or(u32::MAX).max(1);
        let rounds = failures / brokers;
        if rounds == 0 {
            return Duration::ZERO;
        }
        let Rabbit { rabbit_retry_interval, rabbit_retry_backoff, rabbit_interval_max, .. } =
            self.options;
        let pause = rabbit_retry_interval + rabbit_retry_backoff * f64::from(rounds - 1);
        // Each try at a silent broker leaves something behind until it speaks; one
        // that refuses costs nothing, and is to be found soon when it is back.
        let most = match self.silent.load(Ordering::Relaxed) {
            true => rabbit_interval_max,
            false => rabbit_interval_max.min(SOON),
        };
        let pause = pause.min(most);
        Duration::from_secs_f64(pause * (0.75 + fastrand::f64() / 4.0))
    }
}

enum Dial {
    File(UnreadableFile),
    Error(lapin::Error),
    Slow,
}

impl From<UnreadableFile> for Dial {
    fn from(error: UnreadableFile) -> Self {
        Self::File(error)
    }
}

impl From<lapin::Error> for Dial {
    fn from(error: lapin::Error) -> Self {
        Self::Error(error)
    }
}

fn failure(broker: String, error: &lapin::Error) -> Failed {
    /// Bad name or password, unknown virtual host, and words of another
    /// protocol.
    const REFUSALS: [ReplyCode; 3] = [403, 530, 540];
    let problem = error.to_string();
    match error.kind() {
        ErrorKind::ProtocolError(said) if REFUSALS.contains(&said.get_id()) => {
            Failed::Refused { broker, problem }
        }
        _ => Failed::Unreachable { broker, problem },
    }
}

/// Closes a connection in good order, if its broker answers soon.
pub(crate) async fn goodbye(connection: &Connection) {
    let close = connection.close(NORMAL, "goodbye".into());
    if !matches!(tokio::time::timeout(GOODBYE, close).await, Ok(Ok(()))) {
        tracing::debug!("a connection to the message bus was not closed in good order");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn dialler(brokers: &str) -> Dialler {
        let url = TransportUrl::parse(&format!("rabbit://{brokers}/")).unwrap();
        Dialler::new(url, Rabbit::default(), "test".to_owned())
    }

    #[test]
    fn the_pause_grows_with_each_round_over_all_brokers() {
        let two = dialler("a,b");
        assert_eq!(two.pause(0), Duration::from_secs(1));
        assert_eq!(two.pause(1), Duration::ZERO);
        for (failures, least, most) in [(2, 0.75, 1.0), (4, 2.25, 3.0), (40, 6.0, 8.0)] {
            let pause = two.pause(failures).as_secs_f64();
            assert!((least..=most).contains(&pause), "{failures}: {pause}");
        }
        two.silent.store(true, Ordering::Relaxed);
        let pause = two.pause(60).as_secs_f64();
        assert!((22.5..=30.0).contains(&pause), "{pause}");
    }

    #[tokio::test]
    async fn brokers_are_tried_in_turn() {
        let two = dialler("127.0.0.1:1,127.0.0.1:2");
        let mut tried = Vec::new();
        for _ in 0..4 {
            match two.connect().await {
                Err(Failed::Unreachable { broker, .. }) => tried.push(broker),
                _ => panic!("nobody listens there"),
            }
        }
        assert_ne!(tried[0], tried[1]);
        assert_eq!(tried[..2], tried[2..]);
    }
}

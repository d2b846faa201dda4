//! Sending, each message with the broker's word that it has it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::{BasicProperties, Channel, Confirmation, Connection};
use thiserror::Error;
use tokio::sync::Mutex;

use super::declare::{Source, is_declared_otherwise, short};
use super::dial::{Dialler, Failed, NORMAL, goodbye};

/// How long the broker's word on a message is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The broker has it.
    Taken,
    /// No queue wants it.
    NoRoute,
}

/// Why a message may not have been sent.
#[derive(Debug, Error)]
pub enum PostError {
    /// There is no connection, and none is tried for a while.
    #[error("the message bus is away: {0}")]
    Away(String),
    /// Something of that name is declared otherwise.
    #[error("{0}")]
    Otherwise(String),
    /// The connection broke off, or the broker did not answer in time.
    #[error("{0}")]
    Broken(String),
}

/// A connection for sending, made when it is first needed and made anew when it
/// is lost.
pub struct Post {
    dialler: Arc<Dialler>,
    line: Mutex<State>,
}

#[derive(Default)]
struct State {
    line: Option<Arc<Line>>,
    failures: u32,
    /// Not before this time, and why.
    away: Option<(Instant, String)>,
}

struct Line {
    connection: Connection,
    channel: Channel,
}

impl Post {
    /// A post that connects as the dialler says.
    #[must_use]
    pub fn new(dialler: Arc<Dialler>) -> Self {
        Self { dialler, line: Mutex::default() }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// When there is no connection, or none any more: then the message may have
    /// arrived or not.
    pub async fn send(
        &self,
        exchange: &str,
        key: &str,
        mandatory: bool,
        body: &[u8],
        properties: BasicProperties,
    ) -> Result<Sent, PostError> {
        let line = self.line().await?;
        let publish = async {
            let options = BasicPublishOptions { mandatory, ..BasicPublishOptions::default() };
            let (exchange, key) = (short(exchange), short(key));
            let channel = &line.channel;
            channel.basic_publish(exchange, key, options, body, properties).await?.await
        };
        let problem = match tokio::time::timeout(PATIENCE, publish).await {
            Ok(Ok(Confirmation::Ack(None) | Confirmation::NotRequested)) => {
                return Ok(Sent::Taken);
            }
            Ok(Ok(Confirmation::Ack(Some(_)))) => return Ok(Sent::NoRoute),
            Ok(Ok(Confirmation::Nack(_))) => "the broker did not take the message".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no word of the broker within {} s", PATIENCE.as_secs()),
        };
        self.drop_line(&line).await;
        Err(PostError::Broken(problem))
    }

    /// Declares an exchange and a queue, see [`Source::declare`].
    ///
    /// # Errors
    /// As [`Post::aside`].
    pub async fn declare(&self, source: &Source) -> Result<(), PostError> {
        let declare =
            async |line: &Connection, aside: &mut Channel| source.declare(line, aside).await;
        self.aside(declare).await.map(drop)
    }

    /// Does something on a channel of its own: a broker closes that of a declaration
    /// which it refuses.
    ///
    /// # Errors
    /// As [`Post::send`]; [`PostError::Otherwise`] leaves the connection as it is.
    pub async fn aside<T>(
        &self,
        work: impl AsyncFnOnce(&Connection, &mut Channel) -> lapin::Result<T>,
    ) -> Result<T, PostError> {
        let line = self.line().await?;
        let work = async {
            let mut aside = line.connection.create_channel().await?;
            let done = work(&line.connection, &mut aside).await?;
            aside.close(NORMAL, "done".into()).await?;
            Ok::<_, lapin::Error>(done)
        };
        let problem = match tokio::time::timeout(PATIENCE, work).await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) if is_declared_otherwise(&error) => {
                return Err(PostError::Otherwise(error.to_string()));
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no word of the broker within {} s", PATIENCE.as_secs()),
        };
        self.drop_line(&line).await;
        Err(PostError::Broken(problem))
    }

    /// Closes the connection, if there is one.
    pub async fn close(&self) {
        let line = self.line.lock().await.line.take();
        if let Some(line) = line {
            goodbye(&line.connection).await;
        }
    }

    async fn line(&self) -> Result<Arc<Line>, PostError> {
        let mut state = self.line.lock().await;
        if let Some(line) = &state.line {
            if line.connection.status().connected() && line.channel.status().connected() {
                return Ok(line.clone());
            }
            state.line = None;
        }
        if let Some((until, why)) = &state.away
            && Instant::now() < *until
        {
            return Err(PostError::Away(why.clone()));
        }
        match self.open().await {
            Ok(line) => {
                state.failures = 0;
                state.away = None;
                let line = Arc::new(line);
                state.line = Some(line.clone());
                Ok(line)
            }
            Err(why) => {
                state.failures += 1;
                let until = Instant::now() + self.dialler.pause(state.failures);
                state.away = Some((until, why.clone()));
                Err(PostError::Away(why))
            }
        }
    }

    async fn open(&self) -> Result<Line, String> {
        let (connection, _) =
            self.dialler.connect().await.map_err(|error: Failed| error.to_string())?;
        let channel = async {
            let channel = connection.create_channel().await?;
            channel.confirm_select(ConfirmSelectOptions::default()).await?;
            Ok::<_, lapin::Error>(channel)
        };
        match tokio::time::timeout(PATIENCE, channel).await {
            Ok(Ok(channel)) => Ok(Line { connection, channel }),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no word of the broker within {} s", PATIENCE.as_secs())),
        }
    }

    /// Gives a line up that failed, unless another one has taken its place.
    async fn drop_line(&self, failed: &Arc<Line>) {
        let mut state = self.line.lock().await;
        if state.line.as_ref().is_some_and(|line| Arc::ptr_eq(line, failed)) {
            state.line = None;
        }
    }
}

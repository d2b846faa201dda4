//! Exchanges and queues, declared. What is there already, not durable where ours
//! would be, is taken as it is: as the peers do it.

use lapin::options::{
    BasicConsumeOptions, ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{FieldTable, ShortString};
use lapin::{Channel, Connection, Consumer, ErrorKind, ExchangeKind};

/// An exchange, as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// Its name.
    pub name: String,
    /// How it routes.
    pub kind: ExchangeKind,
    /// Whether it outlives the broker.
    pub durable: bool,
    /// Whether it goes with its last queue.
    pub auto_delete: bool,
}

/// A queue, as it is declared and consumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// Whether it outlives the broker.
    pub durable: bool,
    /// Whether it goes with its last consumer.
    pub auto_delete: bool,
    /// What else is declared.
    pub arguments: FieldTable,
    /// What else is said when it is consumed.
    pub consume: FieldTable,
}

impl Exchange {
    /// Declares it.
    ///
    /// # Errors
    /// When the broker has one of that name declared otherwise.
    pub async fn declare(&self, channel: &Channel) -> lapin::Result<()> {
        let options = ExchangeDeclareOptions {
            durable: self.durable,
            auto_delete: self.auto_delete,
            ..ExchangeDeclareOptions::default()
        };
        let name = short(&self.name);
        channel.exchange_declare(name, self.kind.clone(), options, FieldTable::default()).await
    }
}

impl Queue {
    /// Declares it. Gives how many messages wait in it.
    ///
    /// # Errors
    /// When the broker has one of that name declared otherwise.
    pub async fn declare(&self, channel: &Channel) -> lapin::Result<u32> {
        let options = QueueDeclareOptions {
            durable: self.durable,
            auto_delete: self.auto_delete,
            ..QueueDeclareOptions::default()
        };
        let queue = channel.queue_declare(short(&self.name), options, self.arguments.clone());
        Ok(queue.await?.message_count())
    }

    /// Binds it.
    ///
    /// # Errors
    /// When there is no such exchange or queue.
    pub async fn bind(&self, channel: &Channel, exchange: &str, key: &str) -> lapin::Result<()> {
        let options = QueueBindOptions::default();
        let (name, table) = (short(&self.name), FieldTable::default());
        channel.queue_bind(name, short(exchange), short(key), options, table).await
    }

    /// Begins to consume it.
    ///
    /// # Errors
    /// When the broker does not let us.
    pub async fn consume(&self, channel: &Channel, tag: &str) -> lapin::Result<Consumer> {
        let (name, options) = (short(&self.name), BasicConsumeOptions::default());
        channel.basic_consume(name, short(tag), options, self.consume.clone()).await
    }
}

/// A queue to be consumed, with its exchange and the keys that bind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The exchange.
    pub exchange: Exchange,
    /// The queue.
    pub queue: Queue,
    /// The keys.
    pub keys: Vec<String>,
}

impl Source {
    /// Declares exchange and queue, and binds them. Where either is there already
    /// and not durable while ours is, both are declared as not durable (another
    /// service shares the exchange, and its options differ); the broker has closed
    /// the channel by then, so `channel` becomes a new one. Gives how many messages
    /// wait.
    ///
    /// # Errors
    /// When the broker has them declared otherwise in anything else.
    pub async fn declare(
        &self,
        connection: &Connection,
        channel: &mut Channel,
    ) -> lapin::Result<u32> {
        match self.try_declare(channel).await {
            Err(error) if self.is_durable() && is_other_durability(&error) => {
                tracing::warn!(
                    queue = self.queue.name,
                    exchange = self.exchange.name,
                    %error,
                    "declared as not durable, since another service has done so: \
                     [oslo_messaging_rabbit] should be the same in all services"
                );
                *channel = connection.create_channel().await?;
                self.not_durable().try_declare(channel).await
            }
            declared => declared,
        }
    }

    async fn try_declare(&self, channel: &Channel) -> lapin::Result<u32> {
        let Self { exchange, queue, keys } = self;
        exchange.declare(channel).await?;
        let waiting = queue.declare(channel).await?;
        for key in keys {
            queue.bind(channel, &exchange.name, key).await?;
        }
        Ok(waiting)
    }

    fn is_durable(&self) -> bool {
        self.exchange.durable || self.queue.durable
    }

    fn not_durable(&self) -> Self {
        let mut other = self.clone();
        (other.exchange.durable, other.queue.durable) = (false, false);
        other
    }
}

/// A name, cut where the protocol has no room for more.
pub(crate) fn short(text: &str) -> ShortString {
    ShortString::try_new(text).unwrap_or_else(|_| {
        const MOST: usize = 255;
        let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        ShortString::try_new(&text[..end]).unwrap_or_default()
    })
}

/// Whether an error says that a thing is declared otherwise already.
pub(crate) fn is_declared_otherwise(error: &lapin::Error) -> bool {
    const PRECONDITION_FAILED: u16 = 406;
    matches!(error.kind(), ErrorKind::ProtocolError(said) if said.get_id() == PRECONDITION_FAILED)
}

/// Whether an error says that a thing of that name is more or less durable.
fn is_other_durability(error: &lapin::Error) -> bool {
    is_declared_otherwise(error) && error.to_string().contains("inequivalent arg 'durable'")
}

//! Connections to brokers: where they are, how queues are declared, how messages
//! are read and sent.

mod address;
mod declare;
mod dial;
mod names;
mod post;

pub use declare::{Exchange, Queue, Source};
pub(crate) use declare::{is_declared_otherwise, short};
pub(crate) use dial::goodbye;
pub use dial::{Dialler, Failed};
pub use names::Names;
pub use post::{Post, PostError, Sent};

/// The properties that every message bears.
#[must_use]
pub fn properties() -> lapin::BasicProperties {
    const PERSISTENT: u8 = 2;
    lapin::BasicProperties::default()
        .with_content_type("application/json".into())
        .with_content_encoding("utf-8".into())
        .with_headers(lapin::types::FieldTable::default())
        .with_delivery_mode(PERSISTENT)
        .with_priority(0)
}

//! The acknowledgement of a message, on its way to the broker while the message is
//! looked at.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use lapin::Acker;
use lapin::options::BasicAckOptions;

/// Whether a message is acknowledged: not known before it has been written.
pub(super) enum Acknowledged {
    /// It is on its way.
    Soon(Pin<Box<dyn Future<Output = bool> + Send>>),
    /// It has been written, or never will be.
    Known(bool),
}

impl Acknowledged {
    /// Sends it on its way.
    pub async fn begin(acker: Acker) -> Self {
        let ack = async move { acker.ack(BasicAckOptions::default()).await };
        let mut soon = Box::pin(async move { matches!(ack.await, Ok(true)) });
        let first = poll_fn(|context| Poll::Ready(soon.as_mut().poll(context)));
        match first.await {
            Poll::Ready(known) => Self::Known(known),
            Poll::Pending => Self::Soon(soon),
        }
    }

    /// Waits until it is known.
    pub async fn wait(self) -> bool {
        match self {
            Self::Soon(soon) => soon.await,
            Self::Known(known) => known,
        }
    }
}

//! Casts, applied one after the other in the order in which they came.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::Hub;
use crate::rpc::interface::Method;
use crate::wire::message::Message;
use crate::wire::reply::Outcome;

/// A cast that was taken from its queue.
pub(super) struct Cast {
    /// What it tells of.
    pub method: Method,
    /// The message.
    pub message: Message,
    /// Its part of what may be in flight.
    pub permit: OwnedSemaphorePermit,
}

impl Hub {
    /// Applies casts until no more come.
    pub(super) async fn apply_casts(self: Arc<Self>, mut casts: mpsc::UnboundedReceiver<Cast>) {
        while let Some(cast) = casts.recv().await {
            let outcome = self.apply_cast(&cast).await;
            self.answer(&cast.message, &outcome, cast.permit);
        }
    }

    async fn apply_cast(&self, cast: &Cast) -> Outcome {
        tracing::debug!(method = ?cast.method, "a cast");
        Ok(Value::Null)
    }
}

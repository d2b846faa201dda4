//! Casts, applied one after the other in the order in which they came; and what
//! is done with the facts of casts and notifications alike.

use std::sync::Arc;

use serde_json::Value;
use stowplan_ledger::WriteError;
use stowplan_scheduler::facts::Said;
use stowplan_scheduler::{Call, SchedulerError};
use tokio::sync::mpsc;

use super::Hub;
use super::patience::{Patience, Tried};
use super::status::Counter;
use crate::rpc::casts;
use crate::rpc::interface::Method;
use crate::wire::message::Message;
use crate::wire::reply::Outcome;

/// Casts that may wait; more are dropped.
pub(super) const WAITING: usize = 10_000;

/// A cast that was taken from its queue.
pub(super) struct Cast {
    /// What it tells of.
    pub method: Method,
    /// The message.
    pub message: Message,
}

impl Hub {
    /// Applies casts until no more come.
    pub(super) async fn apply_casts(self: Arc<Self>, mut casts: mpsc::Receiver<Cast>) {
        while let Some(Cast { method, message }) = casts.recv().await {
            let outcome = self.apply_cast(method, &message).await;
            self.answer(&message, &outcome);
        }
    }

    async fn apply_cast(&self, method: Method, message: &Message) -> Outcome {
        let now = (self.clock)();
        let said = casts::read(method, &message.args, message.context.time.unwrap_or(now))?;
        self.hear(casts::sender(&message.args));
        self.learn(said, &message.context.request_id, Patience::ACKNOWLEDGED).await;
        Ok(Value::Null)
    }

    /// A message is a sign of life of the host that sent it.
    pub(super) fn hear(&self, host: Option<String>) {
        let Some(host) = host else { return };
        if let Err(error) = self.scheduler.ledger().heard(vec![host], (self.clock)()) {
            tracing::debug!(%error, "a sign of life was not noted");
        }
    }

    /// Takes facts up, one after the other. False when some are left for a later
    /// session or process.
    pub(super) async fn learn(
        &self,
        said: Vec<Said>,
        request_id: &str,
        mut patience: Patience<'_>,
    ) -> bool {
        for said in said {
            loop {
                let call = Call { request_id, now: (self.clock)() };
                match self.scheduler.learn(call, said.clone()).await {
                    Ok(changed) => self.status.add(Counter::Facts, u64::from(changed)),
                    Err(WriteError::Refused(error)) => passed_over(&said, &error),
                    Err(WriteError::Unavailable(error)) => match patience.wait(&error).await {
                        Tried::Again => continue,
                        Tried::Later => return false,
                        Tried::Enough => {
                            tracing::warn!(%error, fact = ?said.fact, "a fact is lost");
                        }
                    },
                }
                break;
            }
        }
        true
    }
}

fn passed_over(said: &Said, error: &SchedulerError) {
    match error {
        SchedulerError::HostNotFound { .. } | SchedulerError::NodeNotFound { .. } => {
            tracing::debug!(%error, "word of a host that is not known");
        }
        _ => tracing::warn!(%error, fact = ?said.fact, "a fact is passed over"),
    }
}

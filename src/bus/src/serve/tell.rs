//! Notifications of our own, sent beside the work that they tell of.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stowplan_config::{NotificationFormat, Settings};
use tokio::sync::mpsc;

use super::Clock;
use super::status::{Counter, Status};
use crate::link::{Names, Post, PostError, Source, properties};
use crate::notify::told::{self, Phase, Told};
use crate::wire::envelope;

/// Notifications that may wait; more are dropped.
const WAITING: usize = 10_000;
/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);
/// Drivers that send to the bus.
const DRIVERS: [&str; 2] = ["messagingv2", "messaging"];

/// Takes notifications in; they are sent by a task of its own.
#[derive(Clone)]
pub(super) struct Tell {
    sender: mpsc::Sender<Waiting>,
    status: Arc<Status>,
    host: String,
    versioned: bool,
    unversioned: bool,
}

struct Waiting {
    told: Told,
    request_id: String,
}

/// What the task sends with.
pub(super) struct Means {
    pub post: Post,
    pub names: Names,
    pub status: Arc<Status>,
    pub clock: Clock,
    pub settings: Arc<Settings>,
}

impl Tell {
    /// Starts the task, if notifications are on. `host` is the name of this
    /// service.
    pub fn start(means: Means, host: &str) -> Option<Self> {
        let options = &means.settings.oslo_messaging_notifications;
        if !options.driver.iter().any(|driver| DRIVERS.contains(&driver.as_str())) {
            return None;
        }
        let format = means.settings.notifications.notification_format;
        let (sender, waiting) = mpsc::channel(WAITING);
        let status = means.status.clone();
        tokio::spawn(means.send_all(waiting));
        Some(Self {
            sender,
            status,
            host: host.to_owned(),
            versioned: format != NotificationFormat::Unversioned,
            unversioned: format != NotificationFormat::Versioned,
        })
    }

    /// Tells where a request stands, `spec` being its `RequestSpec`.
    pub fn request(&self, spec: &Value, phase: Phase, request_id: &str) {
        let versioned = self.versioned.then(|| told::versioned(spec, phase, &self.host));
        let unversioned = self.unversioned.then(|| told::unversioned(spec, phase, &self.host));
        for told in [unversioned, versioned].into_iter().flatten() {
            let waiting = Waiting { told, request_id: request_id.to_owned() };
            if self.sender.try_send(waiting).is_err() {
                self.status.add(Counter::Dropped, 1);
                tracing::debug!("a notification is lost: too many wait");
            }
        }
    }
}

impl Means {
    async fn send_all(self, mut waiting: mpsc::Receiver<Waiting>) {
        let most = self.settings.oslo_messaging_notifications.retry;
        // Queues that this connection has declared.
        let mut declared: Vec<String> = Vec::new();
        while let Some(Waiting { told, request_id }) = waiting.recv().await {
            let text = told::text(&told, &request_id, (self.clock)());
            let body = envelope::seal(&text);
            for topic in self.topics(told.versioned) {
                let queue = format!("{topic}.info");
                let mut tries = 0;
                while let Err(error) = self.send(&queue, &body, &mut declared).await {
                    declared.clear();
                    if most >= 0 && tries >= most {
                        tracing::warn!(%error, queue, "a notification is lost");
                        break;
                    }
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    fn topics(&self, versioned: bool) -> &[String] {
        let settings = &self.settings;
        match versioned {
            true => &settings.notifications.versioned_notifications_topics,
            false => &settings.oslo_messaging_notifications.topics,
        }
    }

    /// As the peers, the sender declares the queue, so that nothing is lost before
    /// there is a consumer.
    async fn send(
        &self,
        queue: &str,
        body: &[u8],
        declared: &mut Vec<String>,
    ) -> Result<(), PostError> {
        let exchange = self.names.topic_exchange(None);
        if !declared.iter().any(|known| known == queue) {
            let source = Source {
                exchange: exchange.clone(),
                queue: self.names.topic_queue(queue),
                keys: vec![queue.to_owned()],
            };
            self.post.declare(&source).await?;
            declared.push(queue.to_owned());
        }
        self.post.send(&exchange.name, queue, false, body, properties()).await?;
        self.status.add(Counter::Sent, 1);
        Ok(())
    }
}

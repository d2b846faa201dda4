//! Signs of life of hosts, for as long as something goes on with them.

use crate::http::{Answer, Client};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

/// Time between two signs of life of all hosts.
const INTERVAL: Duration = Duration::from_secs(10);

/// Sends them until it is dropped.
pub struct Heartbeats {
    stop: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Heartbeats {
    /// Starts to send them. A failure shows in the answers that follow from
    /// it.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(client: &Client, hosts: &[String]) -> anyhow::Result<Self> {
        let body = json!({ "hosts": hosts });
        let client = client.clone();
        let (stop, stopped) = channel();
        let thread = thread::Builder::new()
            .name("heartbeats".to_owned())
            .spawn(move || beat(&client, &body, &stopped))
            .context("cannot start a thread for heartbeats")?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Heartbeats {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn beat(client: &Client, body: &Value, stopped: &Receiver<()>) {
    while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let heard = client.post("/v1/hosts/heartbeat", body).and_then(Answer::demand);
        if let Err(error) = heard {
            tracing::warn!("hosts' signs of life were not heard: {error:#}");
        }
    }
}

//! Copies of messages that cannot be read, for people.

use std::sync::Arc;
use std::time::Instant;

use lapin::options::QueueDeclareOptions;
use lapin::types::{AMQPValue, FieldTable, LongString};
use lapin::{BasicProperties, Channel};
use serde_json::Value;
use tokio::sync::mpsc;

use super::repeated::Repeated;

use crate::link::{Post, PostError, properties, short};

/// Copies that may wait to be sent; more are not kept.
const WAITING: usize = 1000;
/// The longest copy.
const MAX_BYTES: usize = 256 * 1024;

/// A message that cannot be read, and why.
#[derive(Debug)]
pub struct Unread {
    /// The queue it came from.
    pub queue: String,
    /// Why it cannot be read.
    pub reason: String,
    /// Its body.
    pub body: Vec<u8>,
    /// Its properties.
    pub properties: BasicProperties,
}

/// Takes copies in; they are sent by a task of its own.
#[derive(Clone, Debug)]
pub struct Dead(mpsc::Sender<Unread>);

impl Dead {
    /// Starts the task. `queue` is where copies go, `most` how many it keeps.
    #[must_use]
    pub fn start(post: Arc<Post>, queue: String, most: u32) -> Self {
        let (sender, mut waiting) = mpsc::channel::<Unread>(WAITING);
        tokio::spawn(async move {
            let (mut declared, told) = (false, Repeated::default());
            while let Some(unread) = waiting.recv().await {
                if !declared {
                    declared = is_declared(&post, &queue, most).await;
                }
                let Err(error) = send(&post, &queue, unread).await else { continue };
                declared = false;
                if !told.is_old("", Instant::now()) {
                    tracing::warn!(%error, queue, "copies of unreadable messages are lost");
                }
            }
        });
        Self(sender)
    }

    /// Takes a copy in. When too many wait it is dropped: what goes on matters
    /// more.
    pub fn take(&self, unread: Unread) {
        if self.0.try_send(unread).is_err() {
            tracing::debug!("a copy of an unreadable message is lost: too many wait");
        }
    }
}

/// Declares the queue. One that somebody has declared otherwise will do.
async fn is_declared(post: &Post, queue: &str, most: u32) -> bool {
    let name = short(queue);
    let declare = async move |_: &_, channel: &mut Channel| {
        let mut arguments = FieldTable::default();
        let most = i32::try_from(most).unwrap_or(i32::MAX);
        arguments.insert("x-max-length".into(), AMQPValue::LongInt(most));
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        channel.queue_declare(name, options, arguments).await
    };
    match post.aside(declare).await {
        Ok(_) => true,
        Err(PostError::Otherwise(reason)) => {
            tracing::warn!(queue, reason, "the queue is taken as it is");
            true
        }
        Err(_) => false,
    }
}

async fn send(post: &Post, queue: &str, unread: Unread) -> Result<(), PostError> {
    let mut headers = FieldTable::default();
    for (header, text) in [("stowplan-reason", &unread.reason), ("stowplan-queue", &unread.queue)] {
        headers.insert(header.into(), AMQPValue::LongString(LongString::from(text.as_str())));
    }
    let mut copy = properties().with_headers(headers);
    if let Some(kind) = unread.properties.content_type() {
        copy = copy.with_content_type(kind.clone());
    }
    let body = without_secrets(&unread.body);
    post.send("", queue, false, &body, copy).await.map(drop)
}

/// A body with all that a context or cell may hold taken out. What cannot be read and
/// may hold such a thing is left out whole.
fn without_secrets(body: &[u8]) -> Vec<u8> {
    let mut copy = match serde_json::from_slice::<Value>(body) {
        Ok(mut value) => {
            reduce(&mut value);
            value.to_string().into_bytes()
        }
        Err(_) if may_hold_secrets(body) => left_out(body.len()).into_bytes(),
        Err(_) => body.to_vec(),
    };
    copy.truncate(MAX_BYTES);
    copy
}

/// Fields of contexts that are kept: ids.
const KEPT: [&str; 6] = [
    "_context_request_id",
    "_context_global_request_id",
    "_context_project_id",
    "_context_user_id",
    "_context_timestamp",
    "_context_is_admin",
];
/// Fields of cells that hold passwords.
const SECRET: [&str; 2] = ["database_connection", "transport_url"];

fn reduce(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, _| {
                let name = name.as_str();
                let context = name.starts_with("_context_") && !KEPT.contains(&name);
                !context && !SECRET.contains(&name)
            });
            map.values_mut().for_each(reduce);
        }
        Value::Array(list) => list.iter_mut().for_each(reduce),
        Value::String(text) if text.contains('{') => match serde_json::from_str::<Value>(text) {
            Ok(mut inner) => {
                reduce(&mut inner);
                *text = inner.to_string();
            }
            Err(_) if may_hold_secrets(text.as_bytes()) => *text = left_out(text.len()),
            Err(_) => {}
        },
        _ => {}
    }
}

fn left_out(bytes: usize) -> String {
    format!("{bytes} bytes that cannot be read and may hold secrets")
}

/// Whether a text has a field of contexts or cells in it.
fn may_hold_secrets(text: &[u8]) -> bool {
    let has = |name: &str| text.windows(name.len()).any(|part| part == name.as_bytes());
    has("_context_") || SECRET.iter().any(|name| has(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn copies_hold_no_secrets() {
        let inner = json!({
            "method": "x", "_context_auth_token": "geheim", "_context_request_id": "req-1",
            "args": {"cell": {"database_connection": "mysql://n:geheim@h/d", "uuid": "c"}},
        });
        let body = json!({"oslo.version": "3.0", "oslo.message": inner.to_string()});
        let copy = String::from_utf8(without_secrets(body.to_string().as_bytes())).unwrap();
        assert!(!copy.contains("geheim"));
        assert!(copy.contains("req-1") && copy.contains("uuid"));
        assert_eq!(without_secrets(b"\xff{nope"), b"\xff{nope");
        let broken = format!("{inner} and more");
        for body in [broken.clone(), json!({"oslo.message": broken}).to_string()] {
            let copy = String::from_utf8(without_secrets(body.as_bytes())).unwrap();
            assert!(!copy.contains("geheim") && copy.contains("may hold secrets"), "{copy}");
        }
    }
}

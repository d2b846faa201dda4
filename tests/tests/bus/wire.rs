//! A caller on the bus, as Nova's services are.

use lapin::options::{BasicGetOptions, BasicPublishOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use uuid::Uuid;

use crate::broker::Vhost;

/// How long an answer may take.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A connection with a queue for replies.
pub struct Wire {
    _connection: Connection,
    pub channel: Channel,
    pub queue: String,
}

/// A versioned object.
pub fn object(name: &str, version: &str, data: Value) -> Value {
    json!({
        "nova_object.name": name, "nova_object.namespace": "nova",
        "nova_object.version": version, "nova_object.data": data,
    })
}

/// A request specification for `count` small servers.
pub fn spec(count: usize) -> Value {
    let flavor = json!({"name": "m1", "vcpus": 1, "memory_mb": 64, "root_gb": 1, "swap": 0,
        "ephemeral_gb": 0, "extra_specs": {}, "flavorid": "42"});
    object(
        "RequestSpec",
        "1.15",
        json!({
            "flavor": object("Flavor", "1.2", flavor), "image": null, "num_instances": count,
            "project_id": "p", "user_id": "u", "is_bfv": false, "scheduler_hints": {},
            "instance_uuid": Uuid::new_v4(),
        }),
    )
}

/// Uuids of fresh servers.
pub fn servers(count: usize) -> Vec<Uuid> {
    (0..count).map(|_| Uuid::new_v4()).collect()
}

impl Wire {
    pub async fn connect(vhost: &Vhost) -> Self {
        let connection =
            Connection::connect(&vhost.amqp(), ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        let queue = format!("reply_{}", Uuid::new_v4().simple());
        let wire = Self { _connection: connection, channel, queue };
        wire.declare(&wire.queue).await;
        wire
    }

    pub async fn declare(&self, queue: &str) {
        let options = QueueDeclareOptions::default();
        self.channel.queue_declare(queue.into(), options, FieldTable::default()).await.unwrap();
    }

    /// A queue that gets what is sent to an exchange.
    pub async fn listen(&self, exchange: &str, key: &str) -> String {
        let queue = format!("listen_{}", Uuid::new_v4().simple());
        self.declare(&queue).await;
        let (options, table) = (QueueBindOptions::default(), FieldTable::default());
        self.channel
            .queue_bind(queue.as_str().into(), exchange.into(), key.into(), options, table)
            .await
            .unwrap();
        queue
    }

    /// A call, ready to be sent.
    pub fn message(&self, method: &str, version: &str, args: Value) -> Value {
        json!({
            "method": method, "args": args, "version": version,
            "_msg_id": Uuid::new_v4().simple().to_string(), "_reply_q": self.queue,
            "_timeout": null, "_unique_id": Uuid::new_v4().simple().to_string(),
            "_context_request_id": format!("req-{}", Uuid::new_v4()),
            "_context_project_id": "p", "_context_user_id": "u",
            "_context_auth_token": "geheim",
        })
    }

    pub fn select(&self, spec: Value, servers: &[Uuid]) -> Value {
        self.message(
            "select_destinations",
            "4.5",
            json!({
                "spec_obj": spec, "instance_uuids": servers, "return_objects": true,
                "return_alternates": false,
            }),
        )
    }

    pub fn ping(&self) -> Value {
        let mut message = self.message("ping", "1.0", json!({"arg": "x"}));
        message["namespace"] = json!("baseapi");
        message
    }

    pub async fn publish(&self, exchange: &str, key: &str, body: &[u8]) {
        let properties = BasicProperties::default().with_content_type("application/json".into());
        let options = BasicPublishOptions::default();
        let sent =
            self.channel.basic_publish(exchange.into(), key.into(), options, body, properties);
        sent.await.unwrap().await.unwrap();
    }

    pub async fn send(&self, exchange: &str, key: &str, message: &Value) {
        let body = json!({"oslo.version": "2.0", "oslo.message": message.to_string()});
        self.publish(exchange, key, body.to_string().as_bytes()).await;
    }

    /// Sends to the scheduler.
    pub async fn cast(&self, message: &Value) {
        self.send("nova", "scheduler", message).await;
    }

    /// The next message of a queue, its envelope opened; none in this time.
    pub async fn next(&self, queue: &str, wait: Duration) -> Option<Value> {
        let until = Instant::now() + wait;
        loop {
            let got = self.channel.basic_get(queue.into(), BasicGetOptions { no_ack: true });
            if let Some(message) = got.await.unwrap() {
                let outer: Value = serde_json::from_slice(&message.delivery.data).unwrap();
                let inner = outer["oslo.message"].as_str().expect("an envelope");
                return Some(serde_json::from_str(inner).unwrap());
            }
            if Instant::now() >= until {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The reply to a call, signs of life passed over.
    pub async fn reply(&self, message: &Value) -> Value {
        loop {
            let reply = self.next(&self.queue, PATIENCE).await.expect("a reply");
            if reply["_msg_id"] == message["_msg_id"] && reply["ending"] == true {
                return reply;
            }
        }
    }

    /// Sends a call and gives its reply.
    pub async fn call(&self, message: &Value) -> Value {
        self.cast(message).await;
        self.reply(message).await
    }
}

/// The failure in a reply.
pub fn failure(reply: &Value) -> Value {
    serde_json::from_str(reply["failure"].as_str().expect("a failure")).unwrap()
}

/// The hosts of a reply, one for each server.
pub fn hosts(reply: &Value) -> Vec<String> {
    let rows = reply["result"].as_array().expect("a result").iter();
    rows.map(|row| row[0]["nova_object.data"]["service_host"].as_str().unwrap().to_owned())
        .collect()
}

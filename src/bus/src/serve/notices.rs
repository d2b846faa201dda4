//! Notifications of other services and reports of hosts, from queues of our own.
//! Each is acknowledged when what it tells is in the ledger.

use std::sync::Arc;

use lapin::message::Delivery;
use lapin::options::BasicAckOptions;
use serde_json::{Map, Value};
use stowplan_ledger::WriteError;
use stowplan_ledger::rows::HostSource;
use stowplan_scheduler::{Call, hosts};
use tokio::sync::{mpsc, watch};

use super::Hub;
use super::intake::Arrival;
use super::patience::{Patience, Tried};
use super::status::Counter;
use crate::link::Names;
use crate::notify::incoming;
use crate::wire::envelope;
use crate::wire::message::Context;

/// What becomes of a message.
enum Verdict {
    /// What it tells is known.
    Known,
    /// It cannot be read or taken.
    Bad(String),
    /// The ledger is closing: it comes again.
    Later,
}

impl Hub {
    /// Takes messages until no more come, or the session is `closed`.
    pub(super) async fn take_notices(
        self: Arc<Self>,
        mut arrivals: mpsc::UnboundedReceiver<Arrival>,
        closed: watch::Receiver<bool>,
    ) {
        while let Some(Arrival { delivery, queue, .. }) = arrivals.recv().await {
            if *closed.borrow() {
                return;
            }
            match self.heed(&delivery, &queue, &closed).await {
                Verdict::Known => {
                    if let Err(error) = delivery.acker.ack(BasicAckOptions::default()).await {
                        tracing::debug!(%error, "a notification comes again");
                    }
                }
                Verdict::Bad(reason) => self.refuse(delivery, &queue, reason).await,
                Verdict::Later => return,
            }
        }
    }

    async fn heed(
        &self,
        delivery: &Delivery,
        queue: &str,
        closed: &watch::Receiver<bool>,
    ) -> Verdict {
        let kind = delivery.properties.content_type().as_ref().map(|kind| kind.as_str());
        let fields = match envelope::open(kind, &delivery.data) {
            Ok(fields) => fields,
            Err(error) => return Verdict::Bad(error.to_string()),
        };
        self.status.add(Counter::Notifications, 1);
        if queue == Names::HOSTS {
            return self.take_report(fields, delivery.routing_key.as_str(), closed).await;
        }
        match incoming::read(&fields, (self.clock)()) {
            Ok(notification) => {
                self.hear(notification.host);
                let request_id = Context::read(&fields).request_id;
                match self.learn(notification.said, &request_id, Patience::While(closed)).await {
                    true => Verdict::Known,
                    false => Verdict::Later,
                }
            }
            Err(failure) => Verdict::Bad(failure.message.clone()),
        }
    }

    /// Takes a report of a host in, as `PUT /v1/hosts/{host}` does.
    async fn take_report(
        &self,
        fields: Map<String, Value>,
        key: &str,
        closed: &watch::Receiver<bool>,
    ) -> Verdict {
        let request_id = Context::read(&fields).request_id;
        let Report { host, node, take_over, body } = match read_report(fields, key) {
            Ok(report) => report,
            Err(reason) => return Verdict::Bad(reason),
        };
        let report = match hosts::read_report(&body) {
            Ok(report) => report,
            Err(error) => return Verdict::Bad(error.to_string()),
        };
        let (source, node) = (HostSource::Bus, node.as_deref());
        let mut patience = Patience::While(closed);
        loop {
            let (scheduler, now) = (&self.scheduler, (self.clock)());
            let call = Call { request_id: &request_id, now };
            let report = report.clone();
            let taken =
                scheduler.report_host_from(source, call, &host, node, report, take_over).await;
            return match taken {
                Ok(reported) => {
                    self.status.add(Counter::Facts, u64::from(reported.changed));
                    Verdict::Known
                }
                Err(WriteError::Refused(error)) => Verdict::Bad(error.to_string()),
                Err(WriteError::Unavailable(error)) => match patience.wait(&error).await {
                    Tried::Again => continue,
                    Tried::Later => Verdict::Later,
                    Tried::Enough => {
                        tracing::warn!(%error, host, "a report is lost; the next one tells more");
                        Verdict::Known
                    }
                },
            };
        }
    }
}

/// A report as it is sent.
struct Report {
    host: String,
    node: Option<String>,
    take_over: bool,
    body: Vec<u8>,
}

/// A message has the body of `PUT /v1/hosts/{host}` under `report`, or beside
/// `host`, `node` and `take_over`. The host may stand in the routing key, too.
fn read_report(mut fields: Map<String, Value>, key: &str) -> Result<Report, String> {
    if let Some(Value::Object(payload)) = fields.remove("payload") {
        fields = payload;
    }
    let named = key.strip_prefix(Names::HOSTS).and_then(|rest| rest.strip_prefix('.'));
    let mut text = |name: &str| match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{name} is {other}: expected a text")),
    };
    let (host, node) = (text("host")?, text("node")?);
    let host = host.or_else(|| named.map(str::to_owned));
    let host = host.ok_or("host is missing: expected the name of the host")?;
    let take_over = match fields.remove("take_over") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(flag)) => flag,
        Some(other) => return Err(format!("take_over is {other}: expected true or false")),
    };
    let report = match fields.remove("report") {
        Some(Value::Object(report)) => report,
        Some(other) => return Err(format!("report is {other}: expected an object")),
        None => {
            fields.retain(|name, _| !name.starts_with('_'));
            fields
        }
    };
    Ok(Report { host, node, take_over, body: Value::Object(report).to_string().into_bytes() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    fn read(fields: Value, key: &str) -> Result<(String, Value), String> {
        let report = read_report(fields.as_object().unwrap().clone(), key)?;
        Ok((report.host, serde_json::from_slice(&report.body).unwrap()))
    }

    #[test]
    fn a_report_in_each_of_its_forms() {
        let expected = ("h".to_owned(), json!({"vcpus": 4}));
        for (fields, key) in [
            (json!({"host": "h", "vcpus": 4, "_unique_id": "x"}), "stowplan.hosts"),
            (json!({"host": "h", "report": {"vcpus": 4}}), "stowplan.hosts"),
            (json!({"vcpus": 4}), "stowplan.hosts.h"),
            (json!({"event_type": "x", "payload": {"host": "h", "vcpus": 4}}), "stowplan.hosts"),
        ] {
            assert_eq!(read(fields.clone(), key).unwrap(), expected, "{fields}");
        }
        let missing = read(json!({"vcpus": 4}), "stowplan.hosts").unwrap_err();
        assert_eq!(missing, "host is missing: expected the name of the host");
        let wrong = read(json!({"host": 5}), "stowplan.hosts").unwrap_err();
        assert_eq!(wrong, "host is 5: expected a text");
    }
}

//! Scenarios of the wire form: a call as it stands on the wire, with the hosts of
//! a scenario of destinations, and the reply and notification that come of it.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use stowplan_config::Settings;
use stowplan_engine::scenario::{Destination, Destinations, Difference, SelectScenario};
use stowplan_model::request::ScheduleRequest;
use stowplan_scheduler::select::{GroupRef, Order};

use crate::notify::told::{self, Phase};
use crate::rpc::interface;
use crate::rpc::request::{self, SelectCall};
use crate::rpc::selections::Place;
use crate::wire::failure::Failure;
use crate::wire::message::Message;
use crate::wire::python;

/// Who sends notifications of this kind.
const PUBLISHER: &str = "nova-scheduler:";

/// One scenario.
#[derive(Clone, Debug)]
pub struct WireScenario {
    /// Name of the case.
    pub id: String,
    /// What it is about.
    pub note: Option<String>,
    item: Value,
    call: Map<String, Value>,
    /// What is expected of it.
    pub expect: ExpectedWire,
}

/// What a scenario expects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedWire {
    /// The call: it is what the scenario asks.
    request: Map<String, Value>,
    /// The notification that the call was taken.
    notification: Option<Value>,
    /// The result of the reply.
    result: Option<Value>,
    /// The failure of the reply, without its lines for logs.
    failure: Option<Value>,
}

/// What came of one.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Wire {
    /// The result of the reply.
    pub result: Option<Value>,
    /// The failure of the reply.
    pub failure: Option<Value>,
    /// The notification that the call was taken.
    pub notification: Value,
}

impl WireScenario {
    /// Whether a JSON value is a scenario of this form.
    #[must_use]
    pub fn is_one(item: &Value) -> bool {
        item.pointer("/expect/request/method").is_some()
    }

    /// A scenario of its JSON value.
    ///
    /// # Errors
    /// A field that is missing or not of its type.
    pub fn read(mut item: Value) -> serde_json::Result<Self> {
        let expect = item.as_object_mut().and_then(|fields| fields.remove("expect"));
        let expect = ExpectedWire::deserialize(expect.unwrap_or_default())?;
        let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
        let (id, note) = (text("id").unwrap_or_default(), text("note"));
        Ok(Self { id, note, item, call: expect.request.clone(), expect })
    }

    /// Reads the call, decides it among the scenario's hosts and writes the reply.
    ///
    /// # Errors
    /// An option, filter or weigher that does not exist, in words.
    pub fn evaluate(
        &self,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> Result<Wire, String> {
        let message = Message::read(self.call.clone());
        let spec = message.args.get("spec_obj").cloned().unwrap_or_default();
        let host = self.expected_host().unwrap_or("localhost");
        let notification = Value::Object(told::versioned(&spec, Phase::Start, host).fields);
        let reply = match self.reply(&message, base, overrides)? {
            Ok(result) => (Some(result), None),
            Err(failure) => (None, Some(without_lines(&failure))),
        };
        Ok(Wire { result: reply.0, failure: reply.1, notification })
    }

    /// The name of the service, which notifications bear.
    fn expected_host(&self) -> Option<&str> {
        let publisher = self.expect.notification.as_ref()?.get("publisher_id")?.as_str()?;
        publisher.strip_prefix(PUBLISHER)
    }

    fn reply(
        &self,
        message: &Message,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> Result<Result<Value, Failure>, String> {
        let call = interface::find(message).and_then(|_| request::read(&message.args, 1));
        let SelectCall { asked, objects } = match call {
            Ok(call) => call,
            Err(failure) => return Ok(Err(failure)),
        };
        let flag = |name: &str| message.args.get(name).and_then(Value::as_bool) == Some(true);
        let order = match Order::check(asked, ("", ""), 0) {
            Ok(order) => order,
            Err(error) => return Ok(Err(Failure::value(error.to_string()))),
        };
        let group = order.group.as_ref().and_then(|group| match group {
            GroupRef::Inline(group) => Some(group.as_ref().clone()),
            GroupRef::Known(_) => None,
        });
        let request = ScheduleRequest { instance_group: group, ..order.request.clone() };
        let mut item = self.item.clone();
        item["request"] = json!(request);
        item["instance_uuids"] = json!(order.instances);
        item["return_alternates"] = json!(objects && flag("return_alternates"));
        let scenario = SelectScenario::read(item).map_err(|error| error.to_string())?;
        let found = scenario.evaluate(base, overrides).map_err(|error| error.to_string())?;
        Ok(written(&found, objects))
    }
}

/// The result, or the exception in its place.
fn written(found: &Destinations, objects: bool) -> Result<Value, Failure> {
    if let Some(error) = &found.error {
        let text = error.to_string();
        let reason = text.strip_prefix("No valid host was found. ").unwrap_or(&text);
        return Err(Failure::no_valid_host(reason, Vec::new()));
    }
    let one = |to: &Destination| match objects {
        true => place(to).object(),
        false => json!({"host": to.host, "nodename": to.node, "limits": {}}),
    };
    let rows = found.selections.iter();
    Ok(match objects {
        true => rows.map(|row| row.iter().map(one).collect::<Value>()).collect(),
        false => rows.filter_map(|row| row.first()).map(one).collect(),
    })
}

fn place(to: &Destination) -> Place<'_> {
    let node = to.compute_node_uuid.to_string();
    let claim = json!({
        "allocations": {&node: {"resources": {"VCPU": to.allocation_vcpu}}},
        "mappings": {"": [&node]},
    });
    Place {
        compute_node_uuid: node,
        host: &to.host,
        node: &to.node,
        cell_uuid: to.cell_uuid.map(|uuid| uuid.to_string()),
        zone: &to.availability_zone,
        allocation_request: python::text(&claim),
        allocation_version: Some("1.36"),
        numa: None,
    }
}

fn without_lines(failure: &Failure) -> Value {
    let mut value = json!(failure);
    value.as_object_mut().map(|fields| fields.remove("tb"));
    value
}

/// What came out differently than expected; nothing when the case passes.
#[must_use]
pub fn check_wire(expected: &ExpectedWire, got: &Result<Wire, String>) -> Vec<Difference> {
    let wire = match got {
        Ok(wire) => wire,
        Err(failure) => {
            let (expected, got) = (json!(expected.result), json!(failure));
            return vec![Difference { what: "reply".to_owned(), expected, got }];
        }
    };
    let pairs = [
        ("result", &expected.result, &wire.result),
        ("failure", &expected.failure, &wire.failure),
        ("notification", &expected.notification, &Some(wire.notification.clone())),
    ];
    let differ = pairs.into_iter().filter_map(|(what, expected, got)| {
        let (expected, got) = (sorted(json!(expected)), sorted(json!(got)));
        (expected != got).then(|| Difference { what: what.to_owned(), expected, got })
    });
    differ.collect()
}

/// The same with lists of changed fields in order: they travel in any.
fn sorted(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                match value {
                    Value::Array(list) if name == "nova_object.changes" => {
                        list.sort_by_key(ToString::to_string);
                    }
                    other => *other = sorted(other.take()),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| *item = sorted(item.take())),
        _ => {}
    }
    value
}

//! What this scheduler tells of its work, as Nova's does.

use serde_json::{Map, Value, json};
use stowplan_model::{Micros, Uuid};

use super::request_spec;
use crate::wire::times;

/// A notification in one of the forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Whether it is in the form with versions.
    pub versioned: bool,
    /// Its fields, without ids and time.
    pub fields: Map<String, Value>,
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It was taken.
    Start,
    /// Destinations were found.
    End,
}

impl Phase {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// The notification with versions about a request, `spec` being its
/// `RequestSpec`; `host` is the name of this service.
#[must_use]
pub fn versioned(spec: &Value, phase: Phase, host: &str) -> Told {
    let publisher = format!("nova-scheduler:{host}");
    Told { versioned: true, fields: fields(phase, publisher, request_spec(spec)) }
}

/// The notification of the old form.
#[must_use]
pub fn unversioned(spec: &Value, phase: Phase, host: &str) -> Told {
    let payload = json!({"request_spec": legacy(spec)});
    Told { versioned: false, fields: fields(phase, format!("scheduler.{host}"), payload) }
}

fn fields(phase: Phase, publisher: String, payload: Value) -> Map<String, Value> {
    let event = format!("scheduler.select_destinations.{}", phase.as_str());
    let mut fields = Map::new();
    fields.insert("event_type".to_owned(), event.into());
    fields.insert("priority".to_owned(), "INFO".into());
    fields.insert("publisher_id".to_owned(), publisher.into());
    fields.insert("payload".to_owned(), payload);
    fields
}

/// The dictionary that a `RequestSpec` was before it was an object.
fn legacy(spec: &Value) -> Value {
    let data = |value: &Value| value.get("nova_object.data").cloned().unwrap_or_default();
    let spec = data(spec);
    let mut image = data(&spec["image"]);
    if image.is_object() {
        image["properties"] = data(&image["properties"]);
    }
    let flavor = data(&spec["flavor"]);
    json!({
        "num_instances": spec["num_instances"],
        "image": if image.is_object() { image } else { json!({}) },
        "instance_properties": {
            "numa_topology": spec["numa_topology"],
            "pci_requests": spec["pci_requests"],
            "project_id": spec["project_id"],
            "user_id": spec["user_id"],
            "availability_zone": spec["availability_zone"],
            "uuid": spec["instance_uuid"],
            "root_gb": flavor["root_gb"],
            "ephemeral_gb": flavor["ephemeral_gb"],
            "memory_mb": flavor["memory_mb"],
            "vcpus": flavor["vcpus"],
        },
        "instance_type": spec["flavor"],
    })
}

/// The JSON text of a notification, on behalf of a request.
#[must_use]
pub fn text(told: &Told, request_id: &str, now: Micros) -> String {
    let mut fields = told.fields.clone();
    fields.insert("message_id".to_owned(), Uuid::new_v4().to_string().into());
    fields.insert("timestamp".to_owned(), times::write(now).into());
    fields.insert("_unique_id".to_owned(), Uuid::new_v4().simple().to_string().into());
    fields.insert("_context_request_id".to_owned(), request_id.into());
    Value::Object(fields).to_string()
}

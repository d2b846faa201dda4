//! What is learnt from the notifications of Nova's services.

use serde_json::{Map, Value};
use stowplan_model::Micros;
use stowplan_model::host::MetricReport;
use stowplan_scheduler::facts::{AggregateFact, Fact, GroupFact, Place, Said, ServiceFact};

use crate::wire::failure::Failure;
use crate::wire::fields::{Fields, Read, wrong};
use crate::wire::{object, times};

/// The service of a notification that comes from a compute host.
const COMPUTE: &str = "nova-compute";
/// States of tasks in which an instance makes its host read and write much.
const BUSY_TASKS: [&str; 7] = [
    "resize_migrating",
    "rebuilding",
    "resize_prep",
    "image_snapshot",
    "image_backup",
    "rescuing",
    "unshelving",
];
/// The state of an instance that is being built, which does so too.
const BUILDING: &str = "building";
/// States of an instance that is on no host any more.
const AWAY: [&str; 3] = ["deleted", "soft-delete", "shelved_offloaded"];

/// A notification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notification {
    /// The host that sent it, if that is one of servers.
    pub host: Option<String>,
    /// What it tells.
    pub said: Vec<Said>,
}

/// Whether instances in these states make their host read and write much.
#[must_use]
pub fn is_busy(vm_state: Option<&str>, task_state: Option<&str>) -> bool {
    vm_state == Some(BUILDING) || task_state.is_some_and(|task| BUSY_TASKS.contains(&task))
}

/// Reads a notification. One of an event that teaches nothing is empty.
///
/// # Errors
/// Fields of another kind than they have.
pub fn read(fields: &Map<String, Value>, now: Micros) -> Result<Notification, Failure> {
    let outer = Fields::of("notification", fields);
    let event = outer.text("event_type")?.ok_or_else(|| {
        wrong("notification.event_type", &Value::Null, "a text such as metrics.update")
    })?;
    let publisher = outer.text("publisher_id")?.unwrap_or_default();
    let host = publisher.strip_prefix(COMPUTE).and_then(|rest| rest.strip_prefix(':'));
    let at = outer.text("timestamp")?.and_then(|text| times::read(&text)).unwrap_or(now);
    let payload = fields.get("payload").unwrap_or(&Value::Null);
    let facts = facts(&event, payload)?;
    Ok(Notification {
        host: host.map(str::to_owned),
        said: facts.into_iter().map(|fact| Said { fact, at }).collect(),
    })
}

fn facts(event: &str, payload: &Value) -> Read<Vec<Fact>> {
    let mut parts = event.split('.');
    let (kind, action, phase) = (parts.next(), parts.next(), parts.next());
    let of = |name: &str| object::fields("payload", payload, name, 1);
    match (kind, action, phase) {
        (Some("metrics"), Some("update"), None) => {
            metrics(&Fields::of("payload", of("MetricsPayload")?)).map(|fact| vec![fact])
        }
        (Some("service"), Some(action), None) => {
            service(action, &Fields::of("payload", of("ServiceStatusPayload")?))
        }
        (Some("aggregate"), Some(action), Some("end")) => {
            aggregate(action, &Fields::of("payload", of("AggregatePayload")?))
        }
        (Some("server_group"), Some(action), None) => {
            group(action, &Fields::of("payload", of("ServerGroupPayload")?))
        }
        (Some("compute_task"), Some(_), Some("error")) => {
            let fields = Fields::of("payload", of("ComputeTaskPayload")?);
            Ok(fields.uuid("instance_uuid")?.map(Fact::Idle).into_iter().collect())
        }
        (Some("instance"), Some(action), phase) => {
            let fields = any_object(payload)?;
            instance(action, phase.unwrap_or_default(), &Fields::of("payload", fields))
        }
        _ => Ok(Vec::new()),
    }
}

/// The fields of an object of any name: payloads about instances are of many.
fn any_object(payload: &Value) -> Read<&Map<String, Value>> {
    let data = payload.get("nova_object.data").and_then(Value::as_object);
    data.ok_or_else(|| wrong("payload", payload, "an object about an instance"))
}

fn metrics(fields: &Fields<'_>) -> Read<Fact> {
    let mut metrics = Vec::new();
    for metric in fields.inners("metrics", "MetricPayload")? {
        let (Some(name), Some(value)) = (metric.text("name")?, metric.get("value")) else {
            continue;
        };
        let value =
            value.as_f64().ok_or_else(|| wrong(&metric.place("value"), value, "a number"))?;
        // On the wire these are whole hundredths.
        let value = if name.ends_with(".percent") { value / 100.0 } else { value };
        metrics.push(MetricReport { name, value });
    }
    let place = Place { host: host(fields)?, node: fields.text("nodename")? };
    Ok(Fact::Metrics { place, host_ip: fields.text("host_ip")?, metrics })
}

fn host(fields: &Fields<'_>) -> Read<String> {
    let host = fields.text("host")?;
    host.ok_or_else(|| wrong(&fields.place("host"), &Value::Null, "a text"))
}

fn service(action: &str, fields: &Fields<'_>) -> Read<Vec<Fact>> {
    let (host, binary) = (host(fields)?, fields.text("binary")?.unwrap_or_default());
    Ok(match action {
        "create" | "update" => vec![Fact::Service(ServiceFact {
            host,
            binary,
            version: fields.int("version")?.unwrap_or_default(),
            disabled: fields.flag("disabled")?,
            disabled_reason: fields.text("disabled_reason")?,
            forced_down: fields.flag("forced_down")?,
        })],
        "delete" => vec![Fact::ServiceGone { host, binary }],
        _ => Vec::new(),
    })
}

/// An aggregate of a payload or cast.
///
/// # Errors
/// Fields of another kind than they have.
pub fn aggregate_fact(fields: &Fields<'_>) -> Read<AggregateFact> {
    Ok(AggregateFact {
        external_id: fields.int("id")?,
        uuid: fields.uuid("uuid")?,
        name: fields.text("name")?.unwrap_or_default(),
        hosts: fields.texts("hosts")?.unwrap_or_default(),
        metadata: fields.pairs("metadata")?.into_iter().collect(),
    })
}

fn aggregate(action: &str, fields: &Fields<'_>) -> Read<Vec<Fact>> {
    let fact = aggregate_fact(fields)?;
    Ok(match action {
        "create" | "add_host" | "remove_host" | "update_metadata" | "update_prop" => {
            vec![Fact::Aggregate(fact)]
        }
        "delete" => {
            vec![Fact::AggregateGone { uuid: fact.uuid, external_id: fact.external_id }]
        }
        _ => Vec::new(),
    })
}

fn group(action: &str, fields: &Fields<'_>) -> Read<Vec<Fact>> {
    let Some(uuid) = fields.uuid("uuid")? else { return Ok(Vec::new()) };
    if action == "delete" {
        return Ok(vec![Fact::GroupGone(uuid)]);
    }
    let policies = fields.texts("policies")?.unwrap_or_default();
    let policy = fields.text("policy")?.or_else(|| policies.first().cloned());
    let rules = fields.pairs("rules")?;
    let most = rules.iter().find(|(name, _)| name == "max_server_per_host");
    Ok(vec![Fact::Group(GroupFact {
        uuid,
        name: fields.text("name")?.unwrap_or_default(),
        policy: policy.unwrap_or_default(),
        max_server_per_host: most.and_then(|(_, text)| text.parse().ok()),
        project: fields.text("project_id")?.unwrap_or_default(),
        user: fields.text("user_id")?.unwrap_or_default(),
        members: fields.uuids("members")?.unwrap_or_default(),
        complete: false,
    })])
}

fn instance(action: &str, phase: &str, fields: &Fields<'_>) -> Read<Vec<Fact>> {
    let Some(instance) = fields.uuid("uuid")? else { return Ok(Vec::new()) };
    let (vm_state, task_state) = (fields.text("state")?, fields.text("task_state")?);
    let Some(host) = fields.text("host")? else {
        // It is on no host (yet): whatever it did is over.
        let away = vm_state.as_deref().is_some_and(|state| AWAY.contains(&state));
        return Ok(if away { vec![Fact::Idle(instance)] } else { Vec::new() });
    };
    let place = Place { host: host.clone(), node: fields.text("node")? };
    let away = vm_state.as_deref().is_some_and(|state| AWAY.contains(&state));
    Ok(match (action, phase) {
        ("create", "error") => {
            vec![Fact::Built { place, instance, failed: true }, Fact::Left { instance, host }]
        }
        ("delete" | "shelve_offload", "end") => vec![Fact::Left { instance, host }],
        _ if away => vec![Fact::Left { instance, host }],
        _ => {
            let busy = is_busy(vm_state.as_deref(), task_state.as_deref());
            let built = (action, phase) == ("create", "end");
            let built =
                built.then(|| Fact::Built { place: place.clone(), instance, failed: false });
            let is_there = Fact::Instance { instance, place, busy };
            built.into_iter().chain([is_there]).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::wire::object::payload;
    use serde_json::json;
    use stowplan_model::Uuid;

    const NOW: Micros = Micros(5);

    fn told(event: &str, payload: Value) -> Notification {
        let fields = json!({
            "event_type": event, "publisher_id": "nova-compute:cmp-1", "priority": "INFO",
            "timestamp": "1970-01-01 00:00:00.000007", "payload": payload,
        });
        read(fields.as_object().unwrap(), NOW).unwrap()
    }

    fn facts(event: &str, payload: Value) -> Vec<Fact> {
        told(event, payload).said.into_iter().map(|said| said.fact).collect()
    }

    #[test]
    fn percentages_are_fractions() {
        let metric = |name: &str, value: Value| {
            payload("MetricPayload", "1.0", json!({"name": name, "value": value}))
        };
        let metrics = json!([
            metric("cpu.frequency", json!(2400)),
            metric("cpu.percent", json!(31)),
            metric("numa.membw.current", Value::Null),
        ]);
        let told = told(
            "metrics.update",
            payload(
                "MetricsPayload",
                "1.0",
                json!({
                    "host": "cmp-1", "host_ip": "192.0.2.10", "nodename": "n", "metrics": metrics,
                }),
            ),
        );
        assert_eq!(told.host.as_deref(), Some("cmp-1"));
        assert_eq!(told.said[0].at, Micros(7));
        let Fact::Metrics { place, metrics, .. } = &told.said[0].fact else { panic!() };
        assert_eq!(place.node.as_deref(), Some("n"));
        let values: Vec<f64> = metrics.iter().map(|metric| metric.value).collect();
        assert_eq!(values, [2400.0, 0.31]);
    }

    #[test]
    fn instances_come_work_and_leave() {
        let uuid = "0000000d-0000-4000-8000-00000000000d";
        let id: Uuid = uuid.parse().unwrap();
        let of = |state: &str, task: Value| {
            payload(
                "InstanceActionPayload",
                "1.9",
                json!({
                    "uuid": uuid, "host": "h", "node": "n", "state": state, "task_state": task,
                }),
            )
        };
        let place = Place { host: "h".to_owned(), node: Some("n".to_owned()) };
        let there = |busy| Fact::Instance { instance: id, place: place.clone(), busy };
        let left = Fact::Left { instance: id, host: "h".to_owned() };
        let built = |failed| Fact::Built { place: place.clone(), instance: id, failed };
        for (event, payload, expected) in [
            ("instance.create.start", of("building", json!("spawning")), vec![there(true)]),
            ("instance.create.end", of("active", Value::Null), vec![built(false), there(false)]),
            ("instance.create.error", of("building", Value::Null), vec![built(true), left.clone()]),
            ("instance.resize.start", of("active", json!("resize_migrating")), vec![there(true)]),
            ("instance.delete.start", of("active", json!("deleting")), vec![there(false)]),
            ("instance.delete.end", of("deleted", Value::Null), vec![left.clone()]),
            ("instance.update", of("active", json!("powering-on")), vec![there(false)]),
        ] {
            assert_eq!(facts(event, payload), expected, "{event}");
        }
    }

    #[test]
    fn what_teaches_nothing_is_empty() {
        for event in ["flavor.create", "keypair.create.end", "aggregate.create.start"] {
            assert_eq!(facts(event, json!({})), []);
        }
        let fields = json!({"event_type": "service.update", "payload": {"a": 1}});
        let failure = read(fields.as_object().unwrap(), NOW).unwrap_err();
        assert_eq!(failure.message, "payload is an object: expected a ServiceStatusPayload");
    }
}

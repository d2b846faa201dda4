//! What casts to all schedulers tell.

use serde_json::{Map, Value};
use stowplan_model::Micros;
use stowplan_scheduler::facts::{Fact, Place, Said};

use super::interface::Method;
use crate::notify::incoming::{aggregate_fact, is_busy};
use crate::wire::failure::Failure;
use crate::wire::fields::{Fields, Read, wrong};

/// The facts of a cast, said at `at`.
///
/// # Errors
/// Arguments of another kind than they have.
pub fn read(method: Method, args: &Map<String, Value>, at: Micros) -> Result<Vec<Said>, Failure> {
    let args = Fields::of("args", args);
    let facts = match method {
        Method::UpdateAggregates => aggregates(&args)?,
        Method::DeleteAggregate => {
            let fact = match args.inner("aggregate", "Aggregate")? {
                Some(fields) => aggregate_fact(&fields)?,
                None => return Err(wrong("aggregate", &Value::Null, "an Aggregate")),
            };
            vec![Fact::AggregateGone { uuid: fact.uuid, external_id: fact.external_id }]
        }
        Method::UpdateInstanceInfo => instances(&args)?,
        Method::DeleteInstanceInfo => {
            let host = host(&args)?;
            let instance = args.uuid("instance_uuid")?;
            instance.map(|instance| Fact::Left { instance, host }).into_iter().collect()
        }
        Method::SyncInstanceInfo => {
            let instances = args.uuids("instance_uuids")?.unwrap_or_default();
            vec![Fact::Instances { host: host(&args)?, instances }]
        }
        Method::SelectDestinations | Method::Ping | Method::GetBackdoorPort => Vec::new(),
    };
    Ok(facts.into_iter().map(|fact| Said { fact, at }).collect())
}

fn host(args: &Fields<'_>) -> Read<String> {
    let host = args.text("host_name")?;
    host.ok_or_else(|| wrong("host_name", &Value::Null, "a text"))
}

/// The host that a cast comes from, if it names one.
#[must_use]
pub fn sender(args: &Map<String, Value>) -> Option<String> {
    args.get("host_name").and_then(Value::as_str).map(str::to_owned)
}

/// A list of aggregates, or the object of one.
fn aggregates(args: &Fields<'_>) -> Read<Vec<Fact>> {
    let all = match args.get("aggregates") {
        Some(Value::Array(_)) => args.inners("aggregates", "Aggregate")?,
        Some(_) => match args.inner("aggregates", "AggregateList")? {
            Some(list) => list.inners("objects", "Aggregate")?,
            None => Vec::new(),
        },
        None => Vec::new(),
    };
    all.iter().map(|fields| aggregate_fact(fields).map(Fact::Aggregate)).collect()
}

/// A list of instances, or a single one.
fn instances(args: &Fields<'_>) -> Read<Vec<Fact>> {
    let host = host(args)?;
    let value = args.get("instance_info").unwrap_or(&Value::Null);
    let name = value.get("nova_object.name").and_then(Value::as_str);
    let all = if name == Some("Instance") {
        vec![Fields::object("instance_info", value, "Instance")?]
    } else {
        Fields::object("instance_info", value, "InstanceList")?.inners("objects", "Instance")?
    };
    let fact = |fields: &Fields<'_>| {
        let Some(instance) = fields.uuid("uuid")? else {
            return Err(wrong(&fields.place("uuid"), &Value::Null, "a uuid"));
        };
        let (vm_state, task_state) = (fields.text("vm_state")?, fields.text("task_state")?);
        let busy = is_busy(vm_state.as_deref(), task_state.as_deref());
        let place = Place { host: host.clone(), node: fields.text("node")? };
        Ok(Fact::Instance { instance, place, busy })
    };
    all.iter().map(fact).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::wire::object::payload;
    use serde_json::json;

    const ID: &str = "0000000a-0000-4000-8000-00000000000a";

    fn told(method: Method, args: Value) -> Result<Vec<Fact>, String> {
        let said = read(method, args.as_object().unwrap(), Micros(1));
        let said = said.map_err(|failure| failure.message.clone())?;
        Ok(said.into_iter().map(|said| said.fact).collect())
    }

    #[test]
    fn aggregates_come_as_list_or_object() {
        let one = payload(
            "Aggregate",
            "1.3",
            json!({
                "id": 1, "uuid": ID, "name": "ssd", "hosts": ["cmp-1"], "metadata": {"ssd": "true"},
            }),
        );
        let list = payload("AggregateList", "1.3", json!({"objects": [one]}));
        let expected = told(Method::UpdateAggregates, json!({"aggregates": [one]})).unwrap();
        let Fact::Aggregate(fact) = &expected[0] else { panic!() };
        assert_eq!((fact.external_id, fact.metadata["ssd"].as_str()), (Some(1), "true"));
        assert_eq!(told(Method::UpdateAggregates, json!({"aggregates": list})).unwrap(), expected);
        let gone = told(Method::DeleteAggregate, json!({"aggregate": one})).unwrap();
        assert!(matches!(&gone[0], Fact::AggregateGone { external_id: Some(1), .. }));
    }

    #[test]
    fn instances_of_a_host() {
        let one = payload(
            "Instance",
            "2.8",
            json!({
                "uuid": ID, "node": "n", "vm_state": "building", "task_state": "spawning",
            }),
        );
        let list = payload("InstanceList", "2.6", json!({"objects": [one]}));
        let args = json!({"host_name": "h", "instance_info": list});
        let facts = told(Method::UpdateInstanceInfo, args).unwrap();
        assert!(matches!(&facts[0], Fact::Instance { busy: true, .. }));
        let args = json!({"host_name": "h", "instance_uuids": [ID]});
        let facts = told(Method::SyncInstanceInfo, args).unwrap();
        assert!(matches!(&facts[0], Fact::Instances { instances, .. } if instances.len() == 1));
        let args = json!({"host_name": "h", "instance_info": 5});
        assert_eq!(
            told(Method::UpdateInstanceInfo, args).unwrap_err(),
            "instance_info is a number: expected a InstanceList"
        );
    }
}

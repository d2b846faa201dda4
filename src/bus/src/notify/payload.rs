//! The payload of notifications about a request: of each object of the request
//! only the fields that the payload has, in its order.

use serde_json::{Map, Value, json};

use crate::wire::object;

/// Fields of `FlavorPayload` 1.4.
const FLAVOR: [&str; 14] = [
    "flavorid",
    "memory_mb",
    "vcpus",
    "root_gb",
    "ephemeral_gb",
    "name",
    "swap",
    "rxtx_factor",
    "vcpu_weight",
    "disabled",
    "is_public",
    "extra_specs",
    "projects",
    "description",
];
/// Fields of `ImageMetaPayload` 1.0, apart from the properties.
const IMAGE: [&str; 16] = [
    "id",
    "name",
    "status",
    "visibility",
    "protected",
    "checksum",
    "owner",
    "size",
    "virtual_size",
    "container_format",
    "disk_format",
    "created_at",
    "updated_at",
    "tags",
    "direct_url",
    "min_ram",
];
/// Fields of `InstanceNUMACellPayload` 1.2.
const CELL: [&str; 10] = [
    "id",
    "cpuset",
    "pcpuset",
    "cpuset_reserved",
    "memory",
    "pagesize",
    "cpu_topology",
    "cpu_pinning_raw",
    "cpu_policy",
    "cpu_thread_policy",
];
/// Fields of `InstancePCIRequestPayload` 1.1.
const PCI: [&str; 5] = ["count", "spec", "alias_name", "request_id", "numa_policy"];
/// Fields of `ServerGroupPayload` 1.1, apart from the rules.
const GROUP: [&str; 8] =
    ["uuid", "name", "user_id", "project_id", "policies", "members", "hosts", "policy"];

/// The fields of a versioned object; none where it is null.
fn data(value: &Value) -> Option<&Map<String, Value>> {
    value.get("nova_object.data")?.as_object()
}

fn pick(map: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let get = |name: &&str| map.get(*name).cloned().unwrap_or_default();
    names.iter().map(|name| ((*name).to_owned(), get(name))).collect()
}

/// `RequestSpecPayload` 1.1 of a `RequestSpec`.
#[must_use]
pub fn request_spec(spec: &Value) -> Value {
    let empty = Map::new();
    let spec = data(spec).unwrap_or(&empty);
    let get = |name: &str| spec.get(name).unwrap_or(&Value::Null);
    let instance = get("instance_uuid");
    let first = |name: &str| get(name).get(0).cloned().unwrap_or_default();
    let payload = json!({
        "instance_uuid": instance,
        "project_id": get("project_id"),
        "user_id": get("user_id"),
        "availability_zone": get("availability_zone"),
        "flavor": data(get("flavor"))
            .map(|it| object::payload("FlavorPayload", "1.4", pick(it, &FLAVOR).into())),
        "force_hosts": first("force_hosts"),
        "force_nodes": first("force_nodes"),
        "ignore_hosts": get("ignore_hosts"),
        "instance_group": data(get("instance_group")).map(group),
        "image": data(get("image")).map(image),
        "numa_topology": data(get("numa_topology")).map(|it| numa(it, instance)),
        "pci_requests": data(get("pci_requests")).map(|it| pci(it, instance)),
        "num_instances": get("num_instances"),
        "requested_destination": data(get("requested_destination")).map(destination),
        "retry": data(get("retry")).map(retry),
        "scheduler_hints": get("scheduler_hints"),
        "security_groups": security_groups(get("security_groups")),
    });
    object::payload("RequestSpecPayload", "1.1", payload)
}

fn group(map: &Map<String, Value>) -> Value {
    let mut fields = pick(map, &GROUP);
    let rules = map.get("_rules").or_else(|| map.get("rules")).cloned().unwrap_or_default();
    fields.insert("rules".to_owned(), rules);
    object::payload("ServerGroupPayload", "1.1", fields.into())
}

fn image(map: &Map<String, Value>) -> Value {
    let mut fields = pick(map, &IMAGE);
    fields.insert("min_disk".to_owned(), map.get("min_disk").cloned().unwrap_or_default());
    let properties = map.get("properties").and_then(data).cloned().unwrap_or_default();
    let properties = object::payload("ImageMetaPropsPayload", "1.20", properties.into());
    fields.insert("properties".to_owned(), properties);
    object::payload("ImageMetaPayload", "1.0", fields.into())
}

/// The objects in a list, each with some of its fields.
fn each(list: Option<&Value>, name: &str, version: &str, fields: &[&str]) -> Value {
    let items = list.and_then(Value::as_array).into_iter().flatten().filter_map(data);
    items.map(|item| object::payload(name, version, pick(item, fields).into())).collect()
}

fn numa(map: &Map<String, Value>, instance: &Value) -> Value {
    let own = map.get("instance_uuid").filter(|uuid| !uuid.is_null());
    let fields = json!({
        "instance_uuid": own.unwrap_or(instance),
        "cells": each(map.get("cells"), "InstanceNUMACellPayload", "1.2", &CELL),
        "emulator_threads_policy": map.get("emulator_threads_policy"),
    });
    object::payload("InstanceNUMATopologyPayload", "1.0", fields)
}

fn pci(map: &Map<String, Value>, instance: &Value) -> Value {
    let own = map.get("instance_uuid").filter(|uuid| !uuid.is_null());
    let fields = json!({
        "instance_uuid": own.unwrap_or(instance),
        "requests": each(map.get("requests"), "InstancePCIRequestPayload", "1.1", &PCI),
    });
    object::payload("InstancePCIRequestsPayload", "1.0", fields)
}

/// Of the cell only its ids: no address of a database or bus.
fn destination(map: &Map<String, Value>) -> Value {
    let cell = map.get("cell").and_then(data).map(|cell| {
        let mut fields = pick(cell, &["uuid", "name", "disabled"]);
        if fields["disabled"].is_null() {
            fields.insert("disabled".to_owned(), json!(false));
        }
        object::payload("CellMappingPayload", "2.0", fields.into())
    });
    let fields = json!({
        "host": map.get("host"), "node": map.get("node"), "cell": cell,
        "aggregates": map.get("aggregates"),
    });
    object::payload("DestinationPayload", "1.0", fields)
}

/// Of the hosts tried before their nodes.
fn retry(map: &Map<String, Value>) -> Value {
    let hosts = map.get("hosts").and_then(|list| data(list)?.get("objects")?.as_array());
    let node = |host: &Value| data(host)?.get("node").cloned();
    let nodes: Vec<Value> = hosts.into_iter().flatten().filter_map(node).collect();
    let fields = json!({"num_attempts": map.get("num_attempts"), "hosts": nodes});
    object::payload("SchedulerRetriesPayload", "1.0", fields)
}

fn security_groups(list: &Value) -> Value {
    let objects = data(list).and_then(|map| map.get("objects")?.as_array());
    let name = |group: &Value| data(group)?.get("name").cloned();
    objects.into_iter().flatten().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use object::payload as of;

    fn fields(payload: &Value) -> &Map<String, Value> {
        data(payload).unwrap()
    }

    #[test]
    fn a_request_in_full() {
        let cell = of(
            "CellMapping",
            "1.1",
            json!({
                "uuid": "c", "name": "cell1", "database_connection": "mysql://n:geheim@h/d",
            }),
        );
        let hosts = of(
            "ComputeNodeList",
            "1.19",
            json!({
                "objects": [of("ComputeNode", "1.19", json!({"host": "h1", "node": "n1"}))],
            }),
        );
        let spec = of(
            "RequestSpec",
            "1.15",
            json!({
                "instance_uuid": "i", "num_instances": 2, "force_hosts": ["f1", "f2"],
                "ignore_hosts": ["i1"], "scheduler_hints": {},
                "requested_destination": of("Destination", "1.4", json!({"host": "h", "cell": cell})),
                "retry": of("SchedulerRetries", "1.1", json!({"num_attempts": 2, "hosts": hosts})),
                "numa_topology": of("InstanceNUMATopology", "1.3", json!({
                    "cells": [of("InstanceNUMACell", "1.6", json!({"id": 0, "cpuset": [0, 1]}))],
                })),
                "security_groups": of("SecurityGroupList", "1.1", json!({
                    "objects": [of("SecurityGroup", "1.2", json!({"name": "default"}))],
                })),
            }),
        );
        let made = request_spec(&spec);
        assert!(!made.to_string().contains("geheim"));
        let made = fields(&made);
        assert_eq!((&made["force_hosts"], &made["force_nodes"]), (&json!("f1"), &Value::Null));
        assert_eq!(made["security_groups"], json!(["default"]));
        let destination = fields(&made["requested_destination"]);
        assert_eq!(
            destination["cell"],
            of(
                "CellMappingPayload",
                "2.0",
                json!({"uuid": "c", "name": "cell1", "disabled": false})
            )
        );
        assert_eq!(fields(&made["retry"])["hosts"], json!(["n1"]));
        let numa = fields(&made["numa_topology"]);
        assert_eq!(numa["instance_uuid"], "i");
        assert_eq!(fields(&numa["cells"][0])["cpuset"], json!([0, 1]));
        assert_eq!(made["flavor"], Value::Null);
    }
}

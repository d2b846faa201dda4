#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::json;
use stowplan_model::Uuid;
use stowplan_model::request::GroupRules;

use super::*;
use crate::wire::object::payload;
use stowplan_scheduler::select::GroupRef;

fn spec(data: Value) -> Value {
    payload("RequestSpec", "1.15", data)
}

fn call(args: Value) -> Result<SelectCall, String> {
    read(args.as_object().unwrap(), 3).map_err(|failure| failure.message.clone())
}

const FIRST: &str = "00000006-0000-4000-8000-000000000006";
const SECOND: &str = "00000007-0000-4000-8000-000000000007";

fn uuid(text: &str) -> Uuid {
    Uuid::parse_str(text).unwrap()
}

/// A request with something in every field, as a conductor sends it.
fn full() -> Value {
    let group = payload(
        "InstanceGroup",
        "1.11",
        json!({
            "uuid": FIRST, "members": [SECOND], "hosts": ["cmp-9"], "policy": "anti-affinity",
            "_rules": {"max_server_per_host": "2"},
        }),
    );
    let cell = payload(
        "CellMapping",
        "1.1",
        json!({
            "uuid": FIRST, "name": "cell1", "database_connection": "mysql://nova:geheim@db/nova",
            "transport_url": "rabbit://nova:geheim@mq/",
        }),
    );
    let properties = payload(
        "ImageMetaProps",
        "1.44",
        json!({
            "hw_architecture": "x86_64", "traits_required": ["CUSTOM_A"], "hw_numa_mem": [1, 2],
            "hw_boot_menu": true, "os_type": null,
        }),
    );
    let numa = payload(
        "InstanceNUMATopology",
        "1.3",
        json!({
            "cells": [payload("InstanceNUMACell", "1.6", json!({
                "id": 0, "cpuset": [1, 0], "pcpuset": [], "memory": 4096, "pagesize": null,
                "cpu_policy": "shared",
            }))],
        }),
    );
    let pci = payload(
        "InstancePCIRequests",
        "1.1",
        json!({
            "requests": [payload("InstancePCIRequest", "1.4", json!({
                "count": 1, "spec": [{"vendor_id": "10de"}], "request_id": null,
            }))],
        }),
    );
    let requested = payload(
        "RequestGroup",
        "1.3",
        json!({
            "requester_id": SECOND, "resources": {"NET_BW_EGR_KILOBIT_PER_SEC": 1000},
            "required_traits": ["CUSTOM_B", "CUSTOM_A"], "forbidden_traits": [],
            "aggregates": [[FIRST], [FIRST, SECOND]], "forbidden_aggregates": [SECOND],
            "in_tree": FIRST,
        }),
    );
    spec(json!({
        "flavor": payload("Flavor", "1.2", json!({
            "name": "m1", "vcpus": 2, "memory_mb": 4096, "root_gb": 20, "ephemeral_gb": 10,
            "swap": 512, "extra_specs": {"hw:cpu_policy": "shared"}, "description": null,
        })),
        "image": payload("ImageMeta", "1.8", json!({"id": FIRST, "properties": properties})),
        "num_instances": 2, "instance_uuid": FIRST, "project_id": "p", "user_id": "u",
        "availability_zone": "az1", "is_bfv": false, "force_hosts": null,
        "ignore_hosts": ["cmp-2"], "scheduler_hints": {"group": [FIRST], "query": "[\"=\"]"},
        "instance_group": group, "numa_topology": numa, "pci_requests": pci,
        "requested_destination": payload("Destination", "1.4", json!({
            "cell": cell, "aggregates": [FIRST],
        })),
        "requested_resources": [requested],
        "network_metadata": payload("NetworkMetadata", "1.0",
            json!({"physnets": ["b", "a"], "tunneled": true})),
        "request_level_params": payload("RequestLevelParams", "1.1",
            json!({"same_subtree": [[SECOND, "x"]], "root_required": ["T2", "T1"],
                "root_forbidden": ["T3"]})),
        "limits": {}, "retry": null, "a_field_of_later_versions": 5,
    }))
}

#[test]
fn every_field_that_is_read_arrives() {
    let got = call(json!({
        "spec_obj": full(), "instance_uuids": [FIRST, SECOND], "return_objects": true,
        "return_alternates": true,
    }));
    let SelectCall { asked, objects } = got.unwrap();
    assert!(objects && !asked.dry_run);
    assert_eq!((asked.count, asked.alternates), (None, 2));
    assert_eq!(asked.instance_uuids, Some(vec![uuid(FIRST), uuid(SECOND)]));
    let flavor = asked.flavor.unwrap();
    assert_eq!((flavor.vcpus, flavor.memory_mb, flavor.swap), (2, 4096, 512));
    assert_eq!(flavor.extra_specs.get("hw:cpu_policy"), Some("shared"));
    let image = asked.image.unwrap();
    assert_eq!(
        Value::Object(image.properties),
        json!({"trait:CUSTOM_A": "required", "hw_architecture": "x86_64", "hw_boot_menu": true})
    );
    let Some(GroupRef::Inline(group)) = asked.group else { panic!() };
    assert_eq!((group.uuid, group.members), (Some(uuid(FIRST)), vec![uuid(SECOND)]));
    assert_eq!(group.rules, Some(GroupRules { max_server_per_host: Some(2) }));
    assert_eq!(asked.requested_destination.unwrap().cell, Some(uuid(FIRST)));
    assert_eq!(asked.pci_requests[0].request_id.as_deref(), Some("pci0"));
    assert_eq!(asked.numa_topology.unwrap().cells[0].cpuset, [0, 1]);
    let group = &asked.requested_resources[0];
    assert_eq!(group.required_traits, ["CUSTOM_A", "CUSTOM_B"]);
    assert_eq!(group.aggregates, [vec![uuid(FIRST)], vec![uuid(FIRST), uuid(SECOND)]]);
    assert_eq!(group.forbidden_aggregates, [uuid(SECOND)]);
    assert_eq!(group.in_tree, Some(uuid(FIRST)));
    assert_eq!(
        (asked.root_required.join(","), asked.root_forbidden),
        ("T1,T2".to_owned(), vec!["T3".to_owned()])
    );
    assert_eq!(asked.network_metadata.unwrap().physnets, ["a", "b"]);
    assert_eq!(asked.same_subtree, [[SECOND, "x"]]);
    assert_eq!(asked.scheduler_hints.0["query"], ["[\"=\"]"]);
}

#[test]
fn secrets_of_cells_go_no_further() {
    let call = call(json!({"spec_obj": full(), "instance_uuids": [FIRST, SECOND]})).unwrap();
    assert!(!format!("{call:?}").contains("geheim"));
}

#[test]
fn older_callers_get_dictionaries_and_claim_for_themselves() {
    let got = call(json!({"spec_obj": full(), "instance_uuids": [FIRST, SECOND]})).unwrap();
    assert!(!got.objects && !got.asked.dry_run && got.asked.alternates == 0);
    let got = call(json!({"spec_obj": full()})).unwrap();
    assert!(got.asked.dry_run && got.asked.instance_uuids.is_none());
    assert_eq!(got.asked.count, Some(2));
    let got = call(json!({
        "request_spec": {
            "num_instances": 1, "image": {"id": FIRST, "properties": {"os_type": "linux"}},
            "instance_type": {"name": "m1", "vcpus": 1, "memory_mb": 64, "extra_specs": {}},
            "instance_properties": {"uuid": FIRST, "project_id": "p"},
        },
        "filter_properties": {"force_hosts": ["cmp-1"], "scheduler_hints": {}},
    }));
    let asked = got.unwrap().asked;
    assert!(asked.dry_run);
    assert_eq!((asked.force_hosts, asked.project_id), (vec!["cmp-1".to_owned()], Some("p".into())));
    assert_eq!(asked.instance_uuids, Some(vec![uuid(FIRST)]));
}

#[test]
fn what_cannot_be_read_is_named() {
    for (args, expected) in [
        (json!({}), "spec_obj is null: expected a RequestSpec"),
        (json!({"spec_obj": "x"}), "spec_obj is a text: expected a RequestSpec"),
        (
            json!({"spec_obj": spec(json!({"force_hosts": "cmp-1"}))}),
            "spec_obj.force_hosts is \"cmp-1\": expected a list of texts",
        ),
        (
            json!({"spec_obj": spec(json!({"instance_uuid": "x"}))}),
            "spec_obj.instance_uuid is \"x\": expected a uuid",
        ),
        (
            json!({"spec_obj": spec(json!({
                "requested_resources": [payload("RequestGroup", "1.3", json!({"aggregates": [["x"]]}))],
            }))}),
            "spec_obj.requested_resources[0].aggregates is [[\"x\"]]: expected a list of lists of uuids",
        ),
        (
            json!({"spec_obj": spec(json!({"flavor": payload("Image", "1.0", json!({}))}))}),
            "spec_obj.flavor is a Image: expected a Flavor",
        ),
        (
            json!({"spec_obj": payload("RequestSpec", "2.0", json!({}))}),
            "Version 2.0 of RequestSpec is not supported",
        ),
    ] {
        assert_eq!(call(args).unwrap_err(), expected);
    }
}

//! `stowplan snapshot` and what `stowplan evaluate` makes of it: recorded
//! decisions come out the same on a snapshot of the cloud that they were made in.

use crate::{folder, stowplan};
use serde_json::{Value, json};
use std::time::Duration;
use stowplan_tests::{Client, Server};
use tempfile::TempDir;
use uuid::Uuid;

/// Options under which much is left to chance, and all of it to the seed.
const OPTIONS: [&str; 5] = [
    "filter_scheduler.enabled_filters=ComputeFilter,ServerGroupAntiAffinityFilter,\
     ServerGroupAffinityFilter,AggregateInstanceExtraSpecsFilter,NUMATopologyFilter,\
     PciPassthroughFilter",
    "filter_scheduler.host_subset_size=4",
    "filter_scheduler.shuffle_best_same_weighed_hosts=true",
    "filter_scheduler.pci_in_placement=true",
    "default_availability_zone=elsewhere",
];

/// Twelve hosts: even ones with fast disks, in zone east the first half; each
/// with a device, and two NUMA cells.
fn hosts(client: &Client) {
    let names: Vec<String> = (0..12).map(|number| format!("h{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        let cell = |id: i64| {
            let cpus: Vec<i64> = (id * 8..id * 8 + 8).collect();
            json!({"id": id, "cpuset": cpus, "memory": 16384, "siblings": [],
                "mempages": [{"size_kb": 4, "total": 4_194_304, "used": 0}]})
        };
        let mut report = json!({
            "vcpus": 16, "memory_mb": 32768, "local_gb": 200 + number % 3,
            "ram_allocation_ratio": 1.5, "failed_builds": number % 2,
            "metrics": [{"name": "cpu.percent", "value": 0.25}],
            "supported_instances": [["x86_64", "kvm", "hvm"]],
            "numa_cells": [cell(0), cell(1)],
            "devices": [{"name": "0000:81:00.0", "resource_class": "CUSTOM_PCI_10DE_1EB8",
                "total": 2}],
        });
        let path = format!("/v1/hosts/{name}");
        let _ = client.put(&path, &report).expect(201);
        let device = client.get(&format!("/resource_providers?name={name}_0000:81:00.0"));
        let device = &device.expect(200).json()["resource_providers"][0]["uuid"];
        report["pci_pools"] = json!([{"vendor_id": "10de", "product_id": "1eb8", "count": 2,
            "numa_node": 0, "rp_uuid": device}]);
        let _ = client.put(&path, &report).expect(200);
    }
    let _ = client.post("/v1/hosts/heartbeat", &json!({"hosts": names})).expect(200);
    for (name, metadata, every) in
        [("fast", json!({"ssd": "true"}), 2), ("east", json!({"availability_zone": "east"}), 1)]
    {
        let body = json!({"name": name, "metadata": metadata});
        let aggregate = client.post("/v1/aggregates", &body).expect(201).json();
        for number in (0..if every == 1 { 6 } else { 12 }).step_by(every) {
            let path = format!("/v1/aggregates/{}/hosts/h{number}", aggregate["id"]);
            let _ = client.put(&path, &json!({})).expect(200);
        }
    }
}

/// A decision with its body.
fn decision(client: &Client, id: &str) -> Value {
    for _ in 0..100 {
        let decision = client.get(&format!("/v1/decisions/{id}")).expect(200).json();
        if !decision["body"].is_null() {
            return decision;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the body of {id} is never written");
}

fn group(client: &Client, policy: &str) -> String {
    let body = json!({"name": policy, "policy": policy});
    let made = client.post("/v1/server-groups", &body).expect(201).json();
    made["uuid"].as_str().unwrap().to_owned()
}

/// Requests that use all that the cloud has.
fn requests(client: &Client) -> Vec<Value> {
    let flavor =
        |specs: Value| json!({"vcpus": 2, "memory_mb": 2048, "root_gb": 1, "extra_specs": specs});
    let plain = flavor(json!({}));
    let (apart, together) = (group(client, "anti-affinity"), group(client, "affinity"));
    let device = json!([{"request_id": "gpu", "count": 1,
        "spec": [{"vendor_id": "10de", "product_id": "1eb8"}]}]);
    let cells = json!({"cells": [
        {"id": 0, "cpuset": [0], "memory": 1024}, {"id": 1, "cpuset": [1], "memory": 1024},
    ]});
    let image = json!({"id": "i", "properties": {"hw_architecture": "x86_64", "note": "-"}});
    vec![
        json!({"flavor": plain, "count": 3, "alternates": 2, "image": image}),
        json!({"flavor": flavor(json!({"aggregate_instance_extra_specs:ssd": "true"})),
            "availability_zone": "east", "seed": 7}),
        json!({"flavor": plain, "group": apart, "count": 4}),
        json!({"flavor": plain, "group": apart, "count": 4}),
        json!({"flavor": plain, "group": together, "count": 2}),
        json!({"flavor": plain, "group": together}),
        json!({"flavor": plain, "pci_requests": device, "count": 2}),
        json!({"flavor": plain, "numa_topology": cells, "count": 2}),
        json!({"flavor": plain, "numa_topology": cells, "pci_requests": device, "alternates": 1}),
        json!({"flavor": plain, "hint": {"preferredNodeNames": ["h9", "h3"]},
            "ignore_hosts": ["h9"]}),
        json!({"flavor": plain, "dry_run": true, "seed": 3, "count": 5}),
        // No valid host: too much of one, and a group that has no room.
        json!({"flavor": {"vcpus": 64, "memory_mb": 1, "root_gb": 1}}),
        json!({"flavor": plain, "group": apart, "count": 9}),
    ]
}

/// What `evaluate --check` of a decision on a snapshot prints.
fn check(snapshot: &str, decision: &Value) -> stowplan_tests::Output {
    let folder = folder(&[("cloud.json", snapshot), ("decision.json", &decision.to_string())]);
    stowplan(&folder, &["evaluate", "--snapshot", "cloud.json", "--check", "decision.json"])
}

fn exported(folder: &TempDir, server: &Server) -> String {
    let printed = stowplan(folder, &["snapshot", "--url", server.url()]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    printed.stdout
}

#[test]
fn recorded_decisions_come_out_the_same() {
    let server = Server::with(&OPTIONS);
    let client = server.client();
    hosts(&client);
    let folder = folder(&[]);
    let mut refused = 0;
    for asked in requests(&client) {
        let snapshot = exported(&folder, &server);
        let answer = client.post("/v1/select_destinations", &asked);
        assert!([200, 409].contains(&answer.status), "{asked}: {}", answer.body);

        let decision = decision(&client, answer.json()["decision_id"].as_str().unwrap());
        let told = check(&snapshot, &decision);
        assert_eq!((told.code, told.stdout.as_str()), (0, "1 passed, 0 failed\n"), "{asked}");
        // The answer itself too: hosts, what is claimed, alternates.
        let folder =
            crate::folder(&[("cloud.json", &snapshot), ("decision.json", &decision.to_string())]);
        let told = stowplan(
            &folder,
            &["evaluate", "--snapshot", "cloud.json", "--format", "json", "decision.json"],
        );
        let replayed: Value = serde_json::from_str(&told.stdout).unwrap();
        let outcome = &replayed[0]["outcome"];
        if answer.status == 200 {
            assert_eq!(outcome["selections"], answer.json()["selections"], "{asked}");
        } else {
            refused += 1;
            assert_eq!(outcome["outcome"], "no_valid_host", "{asked}");
            let first: Vec<&Value> =
                outcome["reasons"].as_array().unwrap().iter().take(3).collect();
            assert_eq!(json!(first), answer.json()["reasons"], "{asked}");
        }
    }
    assert_eq!(refused, 2);
}

#[test]
fn what_comes_out_differently_is_told() {
    let server = Server::with(&OPTIONS);
    let client = server.client();
    hosts(&client);
    let folder = folder(&[]);
    let snapshot = exported(&folder, &server);
    let flavor = json!({"vcpus": 1, "memory_mb": 64, "root_gb": 1});
    let asked = json!({"flavor": flavor, "count": 2});
    let answer = client.post("/v1/select_destinations", &asked).expect(200).json();
    let decision = decision(&client, answer["decision_id"].as_str().unwrap());
    let chosen = &answer["selections"][0]["host"];

    let mut other: Value = serde_json::from_str(&snapshot).unwrap();
    let host = other["hosts"].as_array_mut().unwrap().iter_mut().find(|it| it["host"] == *chosen);
    host.unwrap()["service"]["disabled"] = json!(true);
    let told = check(&other.to_string(), &decision);
    assert_eq!(told.code, 1);
    for words in ["place of server 1", "filters of server 1", "0 passed, 1 failed"] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    // Another seed draws other hosts, sooner or later.
    let draws = (0..20).map(|seed| {
        let mut decision = decision.clone();
        decision["body"]["request"]["seed"] = json!(seed);
        check(&snapshot, &decision).code
    });
    assert!(draws.into_iter().any(|code| code == 1));
    // A claim made meanwhile is seen to be missing.
    let later = exported(&folder, &server);
    let shown = {
        let folder =
            crate::folder(&[("cloud.json", &later), ("decision.json", &decision.to_string())]);
        stowplan(&folder, &["evaluate", "--snapshot", "cloud.json", "decision.json"])
    };
    assert!(shown.stdout.contains("made on sequence"), "{}", shown.stdout);
}

#[test]
fn a_request_is_tried_in_an_exported_cloud() {
    let server = Server::start();
    let client = server.client();
    hosts(&client);
    let folder = folder(&[]);
    let mut cloud: Value = serde_json::from_str(&exported(&folder, &server)).unwrap();
    let request = json!({"flavor": {"vcpus": 1, "memory_mb": 64}, "force_hosts": ["h3"]});
    let case = json!({"id": "forced", "request": request,
        "expect": {"outcome": "placed", "hosts": ["h3/h3"], "candidates": 1}});
    cloud["request"] = json!({"flavor": {"vcpus": 17, "memory_mb": 64}});
    cloud["expect"] = json!({"outcome": "no_valid_host"});
    let files = crate::folder(&[
        ("cloud.json", &cloud.to_string()),
        ("case.json", &case.to_string()),
        ("wrong.json", r#"{"request": {"flavour": {}}}"#),
    ]);
    let told = stowplan(&files, &["evaluate", "--check", "cloud.json"]);
    assert_eq!((told.code, told.stdout.as_str()), (0, "1 passed, 0 failed\n"));
    let told = stowplan(&files, &["evaluate", "--snapshot", "cloud.json", "--check", "case.json"]);
    assert_eq!((told.code, told.stdout.as_str()), (0, "1 passed, 0 failed\n"));
    let told = stowplan(&files, &["evaluate", "--snapshot", "cloud.json", "wrong.json"]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("is flavor meant?"), "{}", told.stderr);
    let decision = r#"{"id": "d", "kind": "servers", "seq": 1, "outcome": "placed", "header": {},
        "body": null}"#;
    let files = crate::folder(&[("cloud.json", &cloud.to_string()), ("decision.json", decision)]);
    for (arguments, words) in [
        (vec!["evaluate", "decision.json"], "expected --snapshot FILE"),
        (vec!["evaluate", "--snapshot", "cloud.json", "decision.json"], "its body is not kept"),
    ] {
        let told = stowplan(&files, &arguments);
        assert_eq!(told.code, 2);
        assert!(told.stderr.contains(words), "{words}: {}", told.stderr);
    }
}

#[test]
fn scenarios_with_providers_find_their_candidates() {
    let provider = |name: &str, uuid: u128, vcpus: i64| {
        json!({"uuid": Uuid::from_u128(uuid), "name": name,
            "inventories": {"VCPU": {"total": vcpus}, "MEMORY_MB": {"total": 4096},
                "DISK_GB": {"total": 100}}})
    };
    let host = |name: &str, uuid: u128| json!({"host": name, "node": name, "uuid": Uuid::from_u128(uuid), "free_ram_mb": 4096});
    let mut own = host("own", 3);
    own["candidates"] = json!([{"mappings": {}}]);
    let case = json!({
        "id": "two of three", "filters": ["ComputeFilter"], "weighers": [],
        "hosts": [host("large", 1), host("small", 2), own],
        "providers": [provider("large", 1, 8), provider("small", 2, 2), provider("own", 3, 1)],
        "request": {"flavor": {"vcpus": 4}},
        "expect": {"filtered": ["large/large", "own/own"], "eliminated_by": {}},
    });
    let mut loops = case.clone();
    loops["providers"][0]["parent"] = json!(Uuid::from_u128(1));
    let folder = folder(&[("case.json", &case.to_string()), ("loops.json", &loops.to_string())]);
    let told = stowplan(&folder, &["evaluate", "--check", "case.json"]);
    assert_eq!((told.code, told.stdout.as_str()), (0, "1 passed, 0 failed\n"));
    let told = stowplan(&folder, &["evaluate", "loops.json"]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("stands below it"), "{}", told.stderr);
}

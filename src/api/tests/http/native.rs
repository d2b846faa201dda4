//! Our own surface: hosts, host aggregates, server groups, destinations,
//! decisions.

use crate::server::{Answer, Server};
use serde_json::{Value, json};
use std::{thread::sleep, time::Duration};

/// Sends a JSON body and expects a status.
fn call(server: &Server, method: &str, path: &str, body: &Value, status: u16) -> Value {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let answer = server.send(method, path, &[], &text);
    assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
    if answer.body.is_empty() { Value::Null } else { answer.json() }
}

fn get(server: &Server, path: &str) -> Value {
    call(server, "GET", path, &Value::Null, 200)
}

fn report(vcpus: i64) -> Value {
    json!({"vcpus": vcpus, "memory_mb": 8192, "local_gb": 100})
}

#[test]
fn a_host_comes_and_goes() {
    let server = Server::start(|_| ());
    let made = call(&server, "PUT", "/v1/hosts/h1", &report(8), 201);
    assert_eq!((&made["created"], &made["changed"]), (&json!(true), &json!(true)));
    let again = call(&server, "PUT", "/v1/hosts/h1", &report(8), 200);
    assert_eq!(again, json!({"uuid": made["uuid"], "created": false, "changed": false}));
    let shown = get(&server, "/v1/hosts/h1");
    assert_eq!((&shown["state"], &shown["status"]), (&json!("up"), &json!("enabled")));
    assert_eq!(shown["figures"]["free_ram_mb"], 8192);
    assert_eq!(shown["report"]["vcpus"], 8);
    assert_eq!(shown["service"]["binary"], "nova-compute");
    let page = get(&server, "/v1/hosts?state=up&limit=5");
    assert_eq!((page["hosts"].as_array().unwrap().len(), &page["next"]), (1, &Value::Null));
    let heard = json!({"hosts": ["h1", "h9"]});
    let heard = call(&server, "POST", "/v1/hosts/heartbeat", &heard, 200);
    assert_eq!(heard, json!({"heard": 1, "unknown": ["h9"]}));
    call(&server, "DELETE", "/v1/hosts/h1", &Value::Null, 204);
    let gone = call(&server, "GET", "/v1/hosts/h1", &Value::Null, 404);
    assert_eq!(gone["detail"], "there is no host h1");
}

#[test]
fn bodies_are_json_as_it_stands() {
    let server = Server::start(|_| ());
    let body = report(8).to_string();
    for (kind, coding, status) in [
        ("application/json", None, 201),
        ("Application/JSON; charset=utf-8", Some("identity"), 200),
        ("text/plain", None, 415),
        ("application/xml", None, 415),
        ("application/x-www-form-urlencoded", None, 415),
        ("application/json", Some("gzip"), 415),
    ] {
        let mut headers = vec![format!("Content-Type: {kind}")];
        headers.extend(coding.map(|coding| format!("Content-Encoding: {coding}")));
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let answer = server.send("PUT", "/v1/hosts/h1", &headers, &body);
        assert_eq!(answer.status, status, "{kind} {coding:?}: {answer:?}");
        if status == 415 {
            assert_eq!(answer.json()["type"], "/docs/errors#unsupported-media");
        }
    }
    // Without a body there is nothing to be of a type.
    let answer = server.send("GET", "/v1/hosts", &["Content-Type: text/plain"], "");
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn paths_are_decoded_or_refused() {
    let server = Server::start(|_| ());
    for path in ["/v1/hosts/%", "/v1/hosts/%zz", "/v1/hosts/a%2", "/v1/hosts/%ff"] {
        let problem = call(&server, "PUT", path, &report(8), 400);
        assert!(problem["detail"].as_str().unwrap().starts_with("The path is "), "{problem}");
    }
    call(&server, "PUT", "/v1/hosts/a%20b", &report(8), 201);
    let problem = call(&server, "GET", "/v1/nothing", &Value::Null, 404);
    assert!(!problem["detail"].as_str().unwrap().is_empty(), "{problem}");
}

#[test]
fn what_cannot_be_is_refused_by_its_field() {
    let server = Server::start(|_| ());
    call(&server, "PUT", "/v1/hosts/h1", &report(8), 201);
    let (group, select) = (json!({"vcpus": 1}), "/v1/select_destinations");
    let most = i64::MAX;
    for (method, path, body, field) in [
        ("POST", select, json!({"flavor": ["x", 7, 512]}), "flavor"),
        ("POST", select, json!({"flavor": {"vcpu": 64}}), "flavor.vcpu"),
        ("POST", select, json!({"flavor": group, "group": {"policy": "bogus"}}), "group.policy"),
        ("POST", select, json!({"flavor": group, "group": {"policy": ""}}), "group.policy"),
        ("POST", select, json!({"flavor": group, "group": {}}), "group.policy"),
        (
            "POST",
            select,
            json!({"flavor": group, "group": {"policies": ["affinity", "no"]}}),
            "group.policies[1]",
        ),
        ("POST", "/v1/jobs", json!({"tasks": [["r", 2, {"cpu": "1"}]]}), "tasks[0]"),
        ("POST", "/v1/task-reports", json!([[group, 1, "Running"]]), "reports[0]"),
        ("POST", "/v1/server-groups", json!({"name": "a", "rules": [3]}), "rules"),
        ("PUT", "/v1/hosts/h1", json!({"cpu_allocation_ratio": 1e300}), "cpu_allocation_ratio"),
        ("PUT", "/v1/hosts/h1", json!({"numa_cells": [{"id": -most}]}), "numa_cells[0].id"),
        (
            "PUT",
            "/v1/hosts/h1",
            json!({"numa_cells": [{"cpuset": [0, most]}]}),
            "numa_cells[0].cpuset[1]",
        ),
        (
            "PUT",
            "/v1/hosts/h1",
            json!({"numa_cells": [{"mempages": [{"total": most}]}]}),
            "numa_cells[0].mempages[0].total",
        ),
        (
            "PUT",
            "/v1/hosts/h1",
            json!({"pci_pools": [{"vendor_id": "8086", "product_id": "1", "count": most}]}),
            "pci_pools[0].count",
        ),
        (
            "PUT",
            "/v1/hosts/h1",
            json!({"metrics": [{"name": "a", "value": 1e308}]}),
            "metrics[0].value",
        ),
    ] {
        let problem = call(&server, method, path, &body, 400);
        assert_eq!(problem["errors"][0]["field"], field, "{body}: {problem}");
    }
    let long = json!({"flavor": {"vcpus": "x".repeat(70_000), "y".repeat(70_000): 1}});
    let answer = server.send("POST", select, &[], &long.to_string());
    assert_eq!(answer.status, 400);
    assert!(answer.body.len() < 2_000, "{} bytes", answer.body.len());
}

#[test]
fn every_bad_field_and_parameter_is_named() {
    let server = Server::start(|_| ());
    let bad = json!({"vcpus": "x", "memory": 1});
    let problem = call(&server, "PUT", "/v1/hosts/h1", &bad, 400);
    assert_eq!(problem["type"], "/docs/errors#bad-request");
    assert_eq!(
        problem["errors"],
        json!([
            {"field": "vcpus", "value": "\"x\"", "expected": "a whole number"},
            {"field": "memory", "value": "1",
             "expected": "no field of this name (is memory_mb meant?)"},
        ])
    );
    let problem = call(&server, "GET", "/v1/hosts?limit=0&colour=red", &Value::Null, 400);
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2);
    let answer: Answer = server.send("POST", "/v1/select_destinations", &[], "[1]");
    assert_eq!(answer.json()["errors"][0]["expected"], "a JSON object");
}

#[test]
fn aggregates_and_their_hosts() {
    let server = Server::start(|_| ());
    call(&server, "PUT", "/v1/hosts/h1", &report(8), 201);
    let new = json!({"name": "a", "availability_zone": "east", "hosts": ["h1", "h2"]});
    let made = call(&server, "POST", "/v1/aggregates", &new, 201);
    assert_eq!((&made["id"], &made["unknown_hosts"]), (&json!(1), &json!(["h2"])));
    let patch = json!({"metadata": {"ssd": "true", "availability_zone": null}});
    let patched = call(&server, "PATCH", "/v1/aggregates/1", &patch, 200);
    assert_eq!(patched["metadata"], json!({"ssd": "true"}));
    let path = format!("/v1/aggregates/{}/hosts/h3", made["uuid"].as_str().unwrap());
    let added = call(&server, "PUT", &path, &Value::Null, 200);
    assert_eq!(added["hosts"], json!(["h1", "h2", "h3"]));
    for name in ["h1", "h2", "h3"] {
        let path = format!("/v1/aggregates/1/hosts/{name}");
        call(&server, "DELETE", &path, &Value::Null, 200);
    }
    call(&server, "DELETE", "/v1/aggregates/1", &Value::Null, 204);
    assert_eq!(get(&server, "/v1/aggregates"), json!({"aggregates": []}));
}

#[test]
fn destinations_groups_and_why() {
    let server = Server::start(|_| ());
    for name in ["h1", "h2"] {
        call(&server, "PUT", &format!("/v1/hosts/{name}"), &report(8), 201);
    }
    let new = json!({"name": "db", "policy": "anti-affinity"});
    let group = call(&server, "POST", "/v1/server-groups", &new, 201);
    assert_eq!(group["project_id"], "admin");
    let asked = json!({
        "flavor": {"vcpus": 2, "memory_mb": 1024, "root_gb": 10}, "count": 2,
        "group": group["uuid"],
    });
    let placed = call(&server, "POST", "/v1/select_destinations", &asked, 200);
    let selections = placed["selections"].as_array().unwrap();
    let mut hosts: Vec<&str> = selections.iter().map(|s| s["host"].as_str().unwrap()).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["h1", "h2"]);
    let consumer = selections[0]["instance_uuid"].as_str().unwrap();
    let held = server.latest("GET", &format!("/allocations/{consumer}"), "").json();
    assert_eq!(held["consumer_type"], "INSTANCE");
    assert_eq!(
        held["allocations"].as_object().unwrap().keys().next().unwrap(),
        selections[0]["compute_node_uuid"].as_str().unwrap()
    );

    let answer = server.send("POST", "/v1/select_destinations", &[], &asked.to_string());
    assert_eq!(answer.status, 409);
    let problem = answer.json();
    assert_eq!(problem["type"], "/docs/errors#no-valid-host");
    assert!(problem["detail"].as_str().unwrap().starts_with("No valid host was found. "));
    assert!(!problem["reasons"].as_array().unwrap().is_empty());
    let id = problem["decision_id"].as_str().unwrap();
    let request = answer.header("x-openstack-request-id").unwrap();
    let listed = get(&server, &format!("/v1/decisions?request_id={request}"));
    assert_eq!(listed["decisions"][0]["id"], id);
    let mut decision = Value::Null;
    for _ in 0..100 {
        decision = get(&server, &format!("/v1/decisions/{id}"));
        if !decision["body"].is_null() {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    assert_eq!(decision["outcome"], "no_valid_host");
    let filters = decision["body"]["servers"][0]["explanation"]["filters"].as_array().unwrap();
    let apart = filters.iter().find(|f| f["filter"] == "ServerGroupAntiAffinityFilter").unwrap();
    assert_eq!((&apart["before"], &apart["after"]), (&json!(2), &json!(0)));

    let in_use = call(&server, "DELETE", "/v1/hosts/h1", &Value::Null, 409);
    assert_eq!(in_use["consumer_count"], 1);
    let path = format!("/v1/server-groups/{}/members/{consumer}", group["uuid"].as_str().unwrap());
    let left = call(&server, "DELETE", &path, &Value::Null, 200);
    assert_eq!(left["members"].as_array().unwrap().len(), 1);
    let denied = server.send("GET", "/v1/hosts", &["X-Roles: reader"], "");
    assert_eq!(denied.status, 403);
}

#[test]
fn a_policy_file_changes_who_may_do_what_here() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    std::fs::write(&file, "\"stowplan:hosts:list\": \"role:reader and user_id:ann\"\n").unwrap();
    let server = Server::start(|settings| settings.oslo_policy.policy_file = file.clone());
    let status = |token: &str, role: &str, path: &str| {
        let headers = [format!("X-Auth-Token: {token}"), format!("X-Roles: {role}")];
        let headers = headers.join("\r\n");
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n{headers}\r\n\r\n");
        server.raw(request).status
    };
    for (token, role, path, expected) in [
        ("ann:p", "reader", "/v1/hosts", 200),
        ("bob:p", "reader", "/v1/hosts", 403),
        ("ann:p", "admin", "/v1/hosts", 403),
        ("ann:p", "reader", "/v1/decisions", 403),
        ("ann:p", "service", "/v1/decisions", 200),
        ("ann:p", "admin", "/v1/jobs", 200),
    ] {
        assert_eq!(status(token, role, path), expected, "{token} {role} {path}");
    }
    std::fs::write(&file, "\"stowplan:hosts:list\": \"\"\n").unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(5);
    while status("bob:p", "", "/v1/hosts") != 200 {
        assert!(std::time::Instant::now() < until, "the file was not read again");
        sleep(Duration::from_millis(50));
    }
}

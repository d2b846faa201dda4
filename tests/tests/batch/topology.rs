//! Topology domains over REST, and jobs that keep to them.

use crate::cloud::{books, hosts, submit, tasks, wait};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use stowplan_tests::Server;

fn racks_of(tasks: &[Value]) -> BTreeSet<u32> {
    let host = |task: &Value| task["host"].as_str().map(|host| host[1..].parse::<u32>().unwrap());
    tasks.iter().filter_map(host).map(|host| host / 2).collect()
}

#[test]
fn domains_are_declared_and_jobs_keep_to_them() {
    let server = Server::start();
    let client = server.client();
    hosts(&client, 6, 4);
    for rack in 0..3 {
        let name = |host| json!({"type": "host", "name": format!("h{host}")});
        let members = [name(rack * 2), name(rack * 2 + 1)];
        let body = json!({"tier": 1, "tier_name": "rack", "members": members});
        let made = client.put(&format!("/v1/topology/r{rack}"), &body);
        assert_eq!(made.status, 201, "{made:?}");
        assert_eq!(client.put(&format!("/v1/topology/r{rack}"), &body).status, 200);
    }
    let domain = |name: &str| json!({"type": "domain", "name": name});
    let zone = json!({"tier": 2, "members": [domain("r0"), domain("r1")]});
    let made = client.put("/v1/topology/z", &zone).json();
    assert_eq!(made["hosts"], json!(["h0", "h1", "h2", "h3"]));
    let shown = client.get("/v1/topology/r2").json();
    let expected = (&json!("r2"), &json!("rack"), &json!(["h4", "h5"]));
    assert_eq!((&shown["domain"], &shown["tier_name"], &shown["hosts"]), expected);
    let list = client.get("/v1/topology").json();
    assert_eq!(list["domains"].as_array().unwrap().len(), 4);

    let bad = client.put("/v1/topology/y", &json!({"tier": 2, "members": [domain("r1")]}));
    assert_eq!(bad.status, 400);
    let why = "a domain that is a member of no other; it is one of \"z\"";
    assert_eq!(bad.json()["errors"][0]["expected"], why);
    let unknown = client.put("/v1/topology/y", &json!({"teir": 2}));
    assert!(unknown.status == 400 && unknown.body.contains("teir"), "{}", unknown.body);
    assert_eq!(client.get("/v1/topology/y").status, 404);

    let gang = |name: &str, count: u32, more: Value| {
        let mut job = json!({"name": name, "tasks": [{"count": count, "requests": {"cpu": 2}}]});
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        job
    };
    let hard = json!({"network_topology": {"mode": "hard", "highest_tier_name": "rack"}});
    let wide = submit(&client, &gang("wide", 5, hard.clone()));
    let near = submit(&client, &gang("near", 4, hard));
    wait(&client, &near, |job| job["phase"] == "Running");
    assert_eq!(racks_of(&tasks(&client, &near)).len(), 1);
    let told = wait(&client, &wide, |job| !job["conditions"].as_array().unwrap().is_empty());
    assert!(told["conditions"][0]["message"].as_str().unwrap().contains("3 domains"), "{told:#}");
    assert!(racks_of(&tasks(&client, &wide)).is_empty());
    let why = client.get(&format!("/v1/jobs/{wide}/explain")).json();
    assert!(why["reasons"].to_string().contains("domains up to its highest tier"), "{why:#}");

    // What it needs is kept for it as long as it waits.
    assert_eq!(client.post(&format!("/v1/jobs/{wide}:cancel"), &Value::Null).status, 200);
    let parts = json!({"min_available": 4, "sub_groups": [
        {"name": "part", "size": 2, "min_groups": 2, "network_topology": {"highest_tier": 1}},
    ]});
    let parts = submit(&client, &gang("parts", 4, parts));
    wait(&client, &parts, |job| job["phase"] == "Running");
    for part in tasks(&client, &parts).chunks(2) {
        assert_eq!(racks_of(part).len(), 1, "{part:?}");
    }
    let bad =
        client.post("/v1/jobs", &gang("bad", 3, json!({"sub_groups": [{"name": "a", "size": 2}]})));
    assert_eq!(bad.status, 400);
    assert_eq!(bad.json()["errors"][0]["field"], "sub_groups[0].size");
    books(&client);

    assert_eq!(client.delete("/v1/topology/r2").status, 204);
    assert_eq!(client.delete("/v1/topology/r2").status, 404);
}

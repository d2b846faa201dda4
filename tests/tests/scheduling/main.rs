//! Destinations over REST, put to the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod leases;
mod once;

use serde_json::{Value, json};
use stowplan_tests::{Client, Server};

/// Hosts `h0`, `h1`, ... of this many CPUs, alive.
fn hosts(client: &Client, count: usize, vcpus: i64) {
    let names: Vec<String> = (0..count).map(|number| format!("h{number}")).collect();
    for name in &names {
        let report = json!({"vcpus": vcpus, "memory_mb": 65536, "local_gb": 1000});
        let _ = client.put(&format!("/v1/hosts/{name}"), &report).expect(201);
    }
    let _ = client.post("/v1/hosts/heartbeat", &json!({"hosts": names})).expect(200);
}

/// A request for one server of one CPU, with further fields.
fn small(more: Value) -> Value {
    let mut asked = json!({"flavor": {"vcpus": 1, "memory_mb": 64, "root_gb": 1}});
    asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    asked
}

/// Units of CPUs in use on all hosts.
fn used(server: &Server) -> i64 {
    let client = server.client();
    let hosts = client.get("/v1/hosts").expect(200).json();
    let used = hosts["hosts"].as_array().unwrap().iter().map(|host| {
        let path = format!("/resource_providers/{}/usages", host["uuid"].as_str().unwrap());
        client.get(&path).expect(200).json()["usages"]["VCPU"].as_i64().unwrap()
    });
    used.sum()
}

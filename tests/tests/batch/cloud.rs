//! A service with a few hosts, and what is asked of it.

use serde_json::{Value, json};
use std::{
    thread::sleep,
    time::{Duration, Instant},
};
use stowplan_tests::{Client, Server};

/// How long something that must happen may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reports hosts with so many processors each; their names are `h0`, `h1`, ...
pub fn hosts(client: &Client, count: usize, vcpus: i64) {
    for n in 0..count {
        let report = json!({"vcpus": vcpus, "memory_mb": 65_536, "local_gb": 100});
        let reply = client.put(&format!("/v1/hosts/h{n}"), &report);
        assert_eq!(reply.status, 201, "{reply:?}");
    }
}

/// Submits a job and tells its id.
pub fn submit(client: &Client, job: &Value) -> String {
    let reply = client.post("/v1/jobs", job);
    assert_eq!(reply.status, 201, "{reply:?}");
    let id = reply.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(reply.headers["location"], format!("/v1/jobs/{id}"));
    id
}

/// A gang of so many tasks of one processor.
pub fn gang(name: &str, count: i64) -> Value {
    json!({"name": name, "tasks": [
        {"role": "worker", "count": count, "requests": {"cpu": "1", "memory": "64Mi"}},
    ]})
}

/// Waits until a job is as it should be, and gives it.
pub fn wait(client: &Client, job: &str, is: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let shown = client.get(&format!("/v1/jobs/{job}"));
        assert_eq!(shown.status, 200, "{shown:?}");
        let shown = shown.json();
        if is(&shown) {
            return shown;
        }
        assert!(Instant::now() < until, "{shown:#}");
        sleep(Duration::from_millis(20));
    }
}

/// The tasks of a job.
pub fn tasks(client: &Client, job: &str) -> Vec<Value> {
    let reply = client.get(&format!("/v1/jobs/{job}/tasks"));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["tasks"].as_array().unwrap().clone()
}

/// Reports a state of tasks that are on a host, and gives the verdicts.
pub fn report(client: &Client, tasks: &[Value], state: &str) -> Vec<Value> {
    let on_host = tasks.iter().filter(|task| !task["host"].is_null());
    let reports: Vec<Value> = on_host
        .map(|task| json!({"task": task["id"], "attempt": task["attempt"], "state": state}))
        .collect();
    let reply = client.post("/v1/task-reports", &json!(reports));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["verdicts"].as_array().unwrap().clone()
}

/// Of every provider, what is used is what consumers hold, and no more than
/// there is.
pub fn books(client: &Client) {
    let providers = client.get("/resource_providers").json();
    for provider in providers["resource_providers"].as_array().unwrap() {
        let uuid = provider["uuid"].as_str().unwrap();
        let of = |what: &str| client.get(&format!("/resource_providers/{uuid}/{what}")).json();
        let inventories = of("inventories");
        // Cycles go on meanwhile: only what was read at one generation goes
        // together.
        let (usages, allocations) = loop {
            let (usages, allocations) = (of("usages"), of("allocations"));
            let generation = "resource_provider_generation";
            if usages[generation] == allocations[generation] {
                break (usages, allocations);
            }
        };
        let mut held = serde_json::Map::new();
        for holder in allocations["allocations"].as_object().unwrap().values() {
            for (class, amount) in holder["resources"].as_object().unwrap() {
                let sum = held.get(class).and_then(Value::as_i64).unwrap_or(0);
                held.insert(class.clone(), json!(sum + amount.as_i64().unwrap()));
            }
        }
        for (class, used) in usages["usages"].as_object().unwrap() {
            let inventory = &inventories["inventories"][class];
            let total = inventory["total"].as_i64().unwrap();
            assert_eq!(used, held.get(class).unwrap_or(&json!(0)), "{class} of {uuid}");
            assert!(used.as_i64().unwrap() <= total, "{class} of {uuid}: {used} of {total}");
        }
    }
}

/// The books are exact: of every host's tree, what is used is what consumers
/// hold and no more than there is; every bound task holds, and no job that
/// needs all its tasks has only some of them.
pub fn audit(server: &Server) {
    let client = server.client();
    books(&client);
    let jobs = client.get("/v1/jobs").json();
    for job in jobs["jobs"].as_array().unwrap() {
        let tasks = tasks(&client, job["id"].as_str().unwrap());
        let placed: Vec<&Value> = tasks.iter().filter(|task| !task["host"].is_null()).collect();
        for task in &placed {
            let held = client.get(&format!("/allocations/{}", task["id"].as_str().unwrap()));
            assert!(!held.json()["allocations"].as_object().unwrap().is_empty(), "{task:#}");
        }
        let whole = placed.is_empty() || placed.len() == tasks.len();
        assert!(whole, "{} of {} tasks have a place: {job:#}", placed.len(), tasks.len());
    }
}

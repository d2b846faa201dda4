//! Queues, priority classes, quotas and events over REST.

use crate::cloud::{gang, hosts, report, submit, tasks, wait};
use serde_json::{Value, json};
use stowplan_tests::Server;

#[test]
fn a_queue_is_made_changed_closed_and_deleted() {
    let server = Server::start();
    let client = server.client();
    hosts(&client, 2, 8);
    let gold = json!({"name": "gold", "capability": {"cpu": "10"}, "deserved": {"cpu": 6},
        "guarantee": {"resource": {"cpu": 2}}});
    let made = client.post("/v1/queues", &gold);
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.headers["location"], "/v1/queues/gold");
    assert_eq!(made.headers["etag"], "\"0\"");
    let queue = made.json();
    assert_eq!((&queue["parent"], &queue["status"]["state"]), (&json!("root"), &json!("Open")));
    assert_eq!(queue["status"]["real_capability"]["VCPU"], 10);
    let other = client.get("/v1/queues/default").json();
    assert_eq!(other["status"]["real_capability"]["VCPU"], 14, "two are guaranteed to gold");
    assert_eq!(client.post("/v1/queues", &gold).status, 409);
    let bad = json!({"name": "bad", "capability": {"cpu": "1"},
        "guarantee": {"resource": {"cpu": "4"}}});
    let problem = client.post("/v1/queues", &bad);
    assert_eq!(problem.status, 400);
    assert_eq!(
        problem.json()["errors"][0],
        json!({"field": "guarantee.resource.cpu", "value": "\"4\"",
            "expected": "at most 1, its capability.cpu"})
    );
    let patch = json!({"deserved": {"cpu": 8}});
    let stale =
        client.clone().header("if-match", "\"7\"").send("PATCH", "/v1/queues/gold", Some(&patch));
    assert_eq!(stale.status, 412, "{stale:?}");
    let changed =
        client.clone().header("if-match", "\"0\"").send("PATCH", "/v1/queues/gold", Some(&patch));
    assert_eq!((changed.status, &changed.json()["generation"]), (200, &json!(1)));

    let job = submit(
        &client,
        &json!({"name": "a", "queue": "gold", "tasks": [
        {"count": 7, "requests": {"cpu": 1}}]}),
    );
    wait(&client, &job, |job| job["phase"] == "Running");
    let status = client.get("/v1/queues/gold").json()["status"].clone();
    assert_eq!((&status["allocated"]["VCPU"], &status["share"]), (&json!(7), &json!(0.875)));
    let refused = client.delete("/v1/queues/gold");
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("a/task/0, a/task/1"), "{}", refused.body);

    let closed = client.post("/v1/queues/gold:close", &Value::Null).json();
    assert_eq!(closed["status"]["state"], "Closing");
    let late = client.post("/v1/jobs", &json!({"queue": "gold", "tasks": [{}]}));
    assert_eq!(late.status, 409);
    assert!(late.body.contains("it is Closing"), "{}", late.body);
    report(&client, &tasks(&client, &job), "Succeeded");
    assert_eq!(client.get("/v1/queues/gold").json()["status"]["state"], "Closed");
    let open = client.post("/v1/queues/gold:open", &Value::Null).json();
    assert_eq!(open["status"]["state"], "Open");
    assert_eq!(client.delete("/v1/queues/gold").status, 204);
    for (method, path) in [("DELETE", "/v1/queues/gold"), ("POST", "/v1/queues/gold:drain")] {
        assert_eq!(client.send(method, path, None).status, 404, "{method} {path}");
    }
}

#[test]
fn classes_give_priorities_and_quotas_are_kept() {
    let server = Server::start();
    let client = server.client();
    let high = json!({"value": 1000, "preemption_policy": "Never"});
    assert_eq!(client.put("/v1/priority-classes/high", &high).status, 201);
    assert_eq!(client.put("/v1/priority-classes/high", &high).status, 200);
    let usual = json!({"value": 5, "global_default": true});
    assert_eq!(client.put("/v1/priority-classes/usual", &usual).status, 201);
    let second = client.put("/v1/priority-classes/other", &usual);
    assert_eq!(second.status, 400);
    assert!(second.body.contains("\\\"usual\\\" is everybody's"), "{}", second.body);
    let bad = client.put("/v1/priority-classes/x", &json!({"value": 2_000_000_000}));
    assert_eq!(bad.json()["errors"][0]["field"], "value");
    for (name, job, priority) in [
        ("a", json!({"priority_class": "high", "tasks": [{}]}), 1000),
        ("b", json!({"tasks": [{}]}), 5),
        ("c", json!({"priority": 7, "tasks": [{}]}), 7),
    ] {
        let mut job = job;
        job["name"] = json!(name);
        let id = submit(&client, &job);
        let spec = client.get(&format!("/v1/jobs/{id}")).json()["spec"].clone();
        assert_eq!(spec["priority"], priority, "{name}");
        let policy = if name == "a" { "Never" } else { "PreemptLowerPriority" };
        assert_eq!(spec["tasks"][0]["preemption_policy"], policy, "{name}");
    }
    let unknown = client.post("/v1/jobs", &json!({"priority_class": "low", "tasks": [{}]}));
    assert_eq!(unknown.json()["errors"][0]["field"], "priority_class");
    assert_eq!(client.delete("/v1/priority-classes/high").status, 204);
    assert_eq!(client.get("/v1/priority-classes/high").status, 404);

    assert_eq!(client.put("/v1/quotas/p", &json!({"hard": {"cpu": "4"}})).status, 201);
    let bad = client.put("/v1/quotas/p", &json!({"hard": {"fpga": "4"}}));
    assert_eq!(bad.json()["errors"][0]["field"], "hard.fpga");
    let quotas = client.get("/v1/quotas").json();
    assert_eq!(quotas["quotas"], json!([{"project": "p", "hard": {"cpu": "4"}}]));
    assert_eq!(client.delete("/v1/quotas/p").status, 204);
}

#[test]
fn a_key_makes_one_job_and_a_dry_run_none() {
    let server = Server::start();
    let client = server.client();
    let job = gang("one", 2);
    let tried = client.post("/v1/jobs?dry_run=true", &job);
    assert_eq!((tried.status, &tried.json()["counts"]), (200, &json!({"Pending": 2})));
    assert_eq!(client.get("/v1/jobs").json()["jobs"], json!([]));
    let wrong = client.post("/v1/jobs?dry_run=true", &json!({"queue": "x", "tasks": [{}]}));
    assert_eq!(wrong.status, 400);
    let with_key = client.clone().header("idempotency-key", "k");
    let first = with_key.post("/v1/jobs", &job);
    let second = with_key.post("/v1/jobs", &job);
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(first.json()["id"], second.json()["id"]);
    let other = with_key.post("/v1/jobs", &gang("two", 2));
    assert_eq!(other.status, 422, "{other:?}");
    let id = first.json()["id"].as_str().unwrap().to_owned();
    let page = client.get("/v1/jobs").json();
    assert_eq!(page["jobs"].as_array().unwrap().len(), 1);
    let cancelled = client.post(&format!("/v1/jobs/{id}:cancel"), &Value::Null);
    assert_eq!(cancelled.json()["phase"], "Cancelled");
}

#[test]
fn events_tell_what_happens_and_hosts_what_to_run() {
    let server = Server::start();
    let client = server.client();
    hosts(&client, 1, 4);
    let start = client.get("/v1/events").json();
    assert_eq!(start["events"], json!([]));
    let since = &start["next"];
    let job = submit(&client, &gang("one", 2));
    wait(&client, &job, |job| job["phase"] == "Running");
    let bound = client.get(&format!("/v1/events?since={since}&kinds=task.bound&wait=5")).json();
    let events = bound["events"].as_array().unwrap();
    assert_eq!(events.len(), 2, "{bound:#}");
    assert_eq!(
        (&events[0]["task"]["host"], &events[0]["task"]["attempt"]),
        (&json!("h0"), &json!(1))
    );
    let host = client.get("/v1/hosts/h0/tasks").json();
    let names: Vec<&Value> =
        host["tasks"].as_array().unwrap().iter().map(|task| &task["name"]).collect();
    assert_eq!(names, ["one/worker/0", "one/worker/1"]);

    client.post(&format!("/v1/jobs/{job}:suspend"), &Value::Null);
    let next = &host["seq"];
    let evicted = client.get(&format!("/v1/events?since={next}&kinds=task.evict&host=h0")).json();
    assert_eq!(evicted["events"][1]["task"]["leaving"], "suspended");
    let all = client.get(&format!("/v1/jobs/{job}/events")).json();
    let kinds: Vec<&str> =
        all["events"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["job.pending", "task.pending", "task.pending"]);
    assert!(kinds.contains(&"job.suspended") && kinds.contains(&"task.evict"), "{kinds:?}");
    let ahead = client.get("/v1/events?since=999999999");
    assert_eq!(ahead.status, 410);
    assert!(ahead.json()["restart"].is_i64(), "{ahead:?}");
    let bad = client.get("/v1/events?since=-1&kinds=task.done&wait=100").json();
    let fields: Vec<&Value> =
        bad["errors"].as_array().unwrap().iter().map(|error| &error["field"]).collect();
    assert_eq!(fields, ["wait", "since", "kinds"]);
    // A host that is up is not fenced by mistake.
    assert_eq!(client.put("/v1/hosts/h0/fence", &Value::Null).status, 409);
    let fenced = client.put("/v1/hosts/h0/fence?force=true", &Value::Null).json();
    assert_eq!(fenced["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(client.get("/v1/hosts/h0/tasks").json()["tasks"], json!([]));
    assert_eq!(client.get("/v1/hosts/nobody/tasks").status, 404);
}

//! The life of a job.

use crate::cloud::{audit, gang, hosts, report, submit, tasks, wait};
use serde_json::{Value, json};
use stowplan_tests::Server;

#[test]
fn a_gang_comes_runs_and_goes() {
    let server = Server::start();
    let client = server.client();
    hosts(&client, 2, 2);
    let queues = client.get("/v1/queues").json();
    let names: Vec<&Value> =
        queues["queues"].as_array().unwrap().iter().map(|queue| &queue["name"]).collect();
    assert_eq!(names, ["default", "root"]);

    let first = submit(&client, &gang("first", 4));
    // The binds come first, what is said of them with the end of the cycle.
    let placed = wait(&client, &first, |job| job["conditions"][0]["type"] == "Scheduled");
    assert_eq!(placed["phase"], "Running");
    assert_eq!(placed["counts"], json!({"Bound": 4}));
    assert_eq!(placed["spec"]["min_available"], 4);
    let queue = client.get("/v1/queues/default").json();
    assert_eq!(queue["status"]["allocated"]["VCPU"], 4);
    assert_eq!(queue["status"]["counts"], json!({"Running": 1}));

    // The second finds no room, and says so with numbers.
    let second = submit(&client, &gang("second", 3));
    let waiting = wait(&client, &second, |job| !job["conditions"][0].is_null());
    assert_eq!(waiting["phase"], "Pending");
    let condition = &waiting["conditions"][0];
    assert_eq!(
        (&condition["type"], &condition["reason"]),
        (&json!("Unschedulable"), &json!("NotAdmitted"))
    );
    assert_eq!(
        condition["message"],
        "it is not admitted yet by capacity: \
         queue default: of 4 cpu 4 are held and 0 promised, 3 are asked for"
    );

    // A task is a consumer like any other.
    let task = &tasks(&client, &first)[0];
    assert_eq!(task["name"], "first/worker/0");
    let held = client.get(&format!("/allocations/{}", task["id"].as_str().unwrap())).json();
    assert_eq!(held["consumer_type"], "BATCH_TASK");
    assert_eq!(held["allocations"].as_object().unwrap().len(), 2, "the host and its batch child");

    for state in ["Running", "Succeeded"] {
        for verdict in report(&client, &tasks(&client, &first), state) {
            assert_eq!((&verdict["status"], &verdict["state"]), (&json!(200), &json!(state)));
        }
    }
    assert_eq!(client.get(&format!("/v1/jobs/{first}")).json()["phase"], "Completed");
    wait(&client, &second, |job| job["phase"] == "Running");
    audit(&server);

    let refused = client.delete(&format!("/v1/jobs/{second}"));
    assert_eq!(refused.status, 409, "{refused:?}");
    let cancelled = client.post(&format!("/v1/jobs/{second}:cancel"), &Value::Null);
    assert_eq!(cancelled.json()["counts"], json!({"Releasing": 3}));
    report(&client, &tasks(&client, &second), "Released");
    assert_eq!(client.delete(&format!("/v1/jobs/{second}")).status, 204);
    assert_eq!(client.get(&format!("/v1/jobs/{second}")).status, 404);
    let left = client.get("/v1/jobs?phase=Completed&queue=default&limit=1").json();
    assert_eq!(left["jobs"][0]["id"], json!(first));
    assert_eq!(left["next"], Value::Null);
    audit(&server);
}

#[test]
fn what_cannot_be_is_named() {
    let server = Server::start();
    let client = server.client();
    let job = json!({"name": "a/b", "min_available": 7, "sub_grups": [], "tasks": [{}]});
    let problem = client.post("/v1/jobs", &job);
    assert_eq!(problem.status, 400);
    assert_eq!(problem.json()["errors"][0]["field"], "sub_grups");
    let job = json!({"name": "a/b", "min_available": 7,
        "tasks": [{"requests": {"cpu": "many", "fpga": 1}}]});
    let errors = client.post("/v1/jobs", &job).json()["errors"].clone();
    assert_eq!(errors[0]["field"], "tasks[0].requests.cpu");
    let job = json!({"name": "a/b", "min_available": 7, "tasks": [{"requests": {"fpga": 1}}]});
    let errors = client.post("/v1/jobs", &job).json()["errors"].clone();
    let fields: Vec<&Value> =
        errors.as_array().unwrap().iter().map(|error| &error["field"]).collect();
    assert_eq!(fields, ["name", "tasks[0].requests.fpga", "min_available"]);
    let job = json!({"queue": "gold", "tasks": [{}]});
    let problem = client.post("/v1/jobs", &job).json();
    assert!(problem["detail"].as_str().unwrap().starts_with("queue is \"gold\""), "{problem}");
    submit(&client, &gang("one", 1));
    let taken = client.post("/v1/jobs", &gang("one", 1));
    assert_eq!((taken.status, &taken.json()["type"]), (409, &json!("/docs/errors#duplicate-name")));
    for path in ["/v1/jobs/nothing", "/v1/jobs/nothing/tasks", "/v1/queues/gold"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    let bad = json!([{"task": "x", "attempt": 1, "state": "Running"}]);
    let problem = client.post("/v1/task-reports", &bad);
    assert_eq!(problem.status, 400);
    assert!(problem.json()["detail"].as_str().unwrap().contains("[0].task"), "{problem:?}");
}

//! `stowplan queue`.

use crate::{folder, stowplan};
use serde_json::{Value, json};
use stowplan_tests::{Output, Server};
use tempfile::TempDir;

/// A server, and a command asked of it.
struct Desk {
    server: Server,
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let server = Server::start();
        let report = json!({"vcpus": 16, "memory_mb": 65_536, "local_gb": 100});
        let _ = server.client().put("/v1/hosts/h0", &report).expect(201);
        Self { server, folder: folder(&[]) }
    }

    /// Runs `stowplan queue` with these arguments.
    fn ask(&self, arguments: &[&str]) -> Output {
        let mut all = vec!["queue"];
        all.extend_from_slice(arguments);
        all.extend(["--url", self.server.url()]);
        stowplan(&self.folder, &all)
    }

    /// The same, that it went well: what was printed.
    fn told(&self, arguments: &[&str]) -> String {
        let output = self.ask(arguments);
        assert_eq!(output.code, 0, "{arguments:?}: {}", output.stderr);
        output.stdout
    }

    /// The same, as JSON.
    fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.extend(["--format", "json"]);
        let told = self.told(&all);
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"))
    }

    /// The same, that it was the caller's fault: what was said of it.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.ask(arguments);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{arguments:?}");
        output.stderr
    }
}

/// The row of a table that begins with a cell.
fn row(table: &str, first: &str) -> String {
    let row = table.lines().find(|line| line.split_whitespace().any(|word| word == first));
    row.unwrap_or_else(|| panic!("no {first} in {table}")).to_owned()
}

#[test]
fn queues_are_made_changed_shown_and_deleted() {
    let desk = Desk::new();
    let made = desk.told(&[
        "create",
        "gold",
        "--priority",
        "10",
        "--weight",
        "3",
        "--capability",
        "cpu=12",
        "--deserved",
        "cpu=8,memory=16Gi",
        "--guarantee",
        "cpu=4",
        "--may-submit",
        "red",
        "--may-submit",
        "blue",
    ]);
    for (field, value) in [
        ("capability", "12"),
        ("deserved", "8"),
        ("guarantee", "4"),
        ("may_submit", "red"),
        ("status.state", "Open"),
    ] {
        assert!(row(&made, field).contains(value), "{field}: {made}");
    }
    let made = desk.json(&["create", "blue", "--parent", "root", "--reclaimable", "false"]);
    assert_eq!((&made["name"], &made["reclaimable"]), (&json!("blue"), &json!(false)));
    let changed = desk.json(&["set", "gold", "--priority", "-1", "--capability", "cpu=10"]);
    assert_eq!((&changed["priority"], &changed["generation"]), (&json!(-1), &json!(1)));
    assert_eq!(changed["capability"], json!({"cpu": "10"}));
    assert_eq!(changed["weight"], 3, "what is not named stays");
    assert_eq!(changed["guarantee"]["resource"], json!({"cpu": "4"}));

    let listed = desk.told(&["list"]);
    for name in ["root", "default", "gold", "blue"] {
        assert!(row(&listed, name).contains("Open"), "{listed}");
    }
    let listed = desk.json(&["list"]);
    let names: Vec<&str> =
        listed["queues"].as_array().unwrap().iter().map(|q| q["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["blue", "default", "gold", "root"]);
    assert!(row(&desk.told(&["show", "gold"]), "status.real_capability").contains("VCPU"));
    assert_eq!(desk.json(&["show", "gold"]), changed);

    assert_eq!(desk.told(&["delete", "blue"]), "queue blue is gone\n");
    assert_eq!(desk.json(&["delete", "gold"]), json!({"name": "gold"}));
    assert_eq!(desk.json(&["list"])["queues"].as_array().unwrap().len(), 2);
}

#[test]
fn queues_are_closed_drained_and_opened() {
    let desk = Desk::new();
    let closed = desk.told(&["close", "default"]);
    assert!(row(&closed, "status.state").contains("Closed"), "{closed}");
    let client = desk.server.client();
    let job = json!({"tasks": [{"requests": {"cpu": 1}}]});
    assert_eq!(client.post("/v1/jobs", &job).status, 409);
    assert_eq!(desk.json(&["open", "default"])["status"]["state"], "Open");
    let _ = client.post("/v1/jobs", &job).expect(201);
    assert_eq!(desk.json(&["drain", "default"])["status"]["state"], "Closing");
    assert!(desk.told(&["open", "default"]).contains("Open"));
}

#[test]
fn why_its_jobs_wait_is_told() {
    let desk = Desk::new();
    desk.told(&["create", "small", "--capability", "cpu=2"]);
    let client = desk.server.client();
    for name in ["first", "second"] {
        let job = json!({"name": name, "queue": "small", "tasks": [{"requests": {"cpu": 3}}]});
        let _ = client.post("/v1/jobs", &job).expect(201);
    }
    let told = desk.told(&["explain", "small"]);
    assert!(told.starts_with("queue small: Open\n"), "{told}");
    for words in [
        "queue small may hold 2 VCPU: 0 are held, 3 are asked for",
        "1 of the 2 jobs that wait in queue small come before it",
        "admin/first",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let told = desk.json(&["explain", "small"]);
    let waiting = told["waiting"].as_array().unwrap();
    let positions: Vec<_> = waiting.iter().map(|job| job["position"].clone()).collect();
    assert_eq!(positions, [1, 2]);
    let limit = told["limits"].as_array().unwrap().iter().find(|limit| limit["class"] == "VCPU");
    assert_eq!(limit.unwrap()["real_capability"], 2);
    // The same order, page by page.
    let page = client.get("/v1/queues/small/jobs?order=position&limit=1").expect(200).json();
    assert_eq!(
        (&page["jobs"][0]["name"], &page["jobs"][0]["position"]),
        (&json!("first"), &json!(1))
    );
    let next = format!(
        "/v1/queues/small/jobs?order=position&limit=1&marker={}",
        page["next"].as_str().unwrap()
    );
    let page = client.get(&next).expect(200).json();
    assert_eq!(
        (&page["jobs"][0]["name"], &page["jobs"][0]["position"]),
        (&json!("second"), &json!(2))
    );
    assert_eq!(page["next"], Value::Null);
    let all = client.get("/v1/queues/small/jobs").expect(200).json();
    assert_eq!(all["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(all["jobs"][0].get("position"), None);
    assert_eq!(client.get("/v1/queues/none/jobs").status, 404);
    let wrong = client.get("/v1/queues/small/jobs?order=age").expect(400).json();
    assert_eq!(wrong["errors"][0]["expected"], "submission or position");
}

#[test]
fn what_cannot_be_is_said_with_field_value_and_what_was_expected() {
    let desk = Desk::new();
    for (arguments, words) in [
        (&["show", "none"][..], "there is no queue \"none\""),
        (&["explain", "none"], "there is no queue \"none\""),
        (&["create", "default"], "there is a queue \"default\" already"),
        (&["delete", "root"], "it always exists"),
        (&["create", "a:b"], "name is \"a:b\": expected a name without :"),
        (&["create", "a", "--weight", "0"], "weight is 0: expected 1 to 1000000"),
        (&["create", "a", "--parent", "none"], "parent is \"none\""),
        (
            &["create", "a", "--guarantee", "cpu=4", "--capability", "cpu=1"],
            "guarantee.resource.cpu is \"4\": expected at most 1, its capability.cpu",
        ),
        (&["create", "a", "--capability", "fpga=1"], "capability.fpga"),
        (&["create", "a", "--capability", "cpu"], "expected"),
        (&["create", "a", "--priority", "high"], "high"),
        (&["paint"], "paint"),
    ] {
        let told = desk.refused(arguments);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
    let nobody = stowplan(&desk.folder, &["queue", "list", "--url", "http://127.0.0.1:1"]);
    assert_eq!((nobody.code, nobody.stdout.as_str()), (3, ""));
    assert!(nobody.stderr.contains("127.0.0.1:1"), "{}", nobody.stderr);
}

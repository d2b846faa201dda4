//! `stowplan job`.

use crate::{folder, stowplan};
use serde_json::{Value, json};
use std::{
    thread::sleep,
    time::{Duration, Instant},
};
use stowplan_tests::{Output, Server};
use tempfile::TempDir;

/// How long something that must happen may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with a host of 4 processors, and a command asked of it.
struct Desk {
    server: Server,
    folder: TempDir,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let server = Server::start();
        let report = json!({"vcpus": 4, "memory_mb": 65_536, "local_gb": 100});
        let _ = server.client().put("/v1/hosts/h0", &report).expect(201);
        Self { server, folder: folder(files) }
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        let mut all = vec!["job"];
        all.extend_from_slice(arguments);
        all.extend(["--url", self.server.url()]);
        stowplan(&self.folder, &all)
    }

    fn told(&self, arguments: &[&str]) -> String {
        let output = self.ask(arguments);
        assert_eq!(output.code, 0, "{arguments:?}: {}", output.stderr);
        output.stdout
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.extend(["--format", "json"]);
        let told = self.told(&all);
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"))
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.ask(arguments);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{arguments:?}");
        output.stderr
    }

    /// Waits until a job is as it should be, and gives it.
    fn wait(&self, job: &str, is: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let shown = self.json(&["show", job]);
            if is(&shown) {
                return shown;
            }
            assert!(Instant::now() < until, "{shown:#}");
            sleep(Duration::from_millis(50));
        }
    }

    fn names(&self, arguments: &[&str]) -> Vec<String> {
        let mut all = vec!["list"];
        all.extend_from_slice(arguments);
        let jobs = self.json(&all);
        let name = |job: &Value| job["name"].as_str().unwrap().to_owned();
        jobs["jobs"].as_array().unwrap().iter().map(name).collect()
    }
}

#[test]
fn jobs_are_submitted_by_options_and_by_files() {
    let file = r#"{"name": "of-file", "tasks": [{"role": "w", "count": 2, "labels": {"team": "blue"},
        "requests": {"cpu": "1"}, "hint": {"preferredNodeNames": ["ghost", "h0"]}}]}"#;
    let desk = Desk::new(&[("job.json", file), ("bad.json", "[1"), ("list.json", "[]")]);
    let told =
        desk.told(&["submit", "--name", "plain", "--count", "2", "--request", "cpu=1,memory=1Gi"]);
    assert!(told.starts_with("job admin/plain is \""), "{told}");
    let told = desk.told(&["submit", "job.json", "--priority", "-3", "--hold"]);
    assert!(told.contains("of-file") && told.contains("Suspended (Pending=2)"), "{told}");
    assert!(told.contains("warning: \"ghost\" in the hint's preferredNodeNames"), "{told}");
    let job = desk.json(&["show", "of-file"]);
    assert_eq!((&job["spec"]["priority"], &job["phase"]), (&json!(-3), &json!("Suspended")));
    let dry = desk.told(&["submit", "job.json", "--name", "dry", "--dry-run"]);
    assert!(dry.contains("job admin/dry would be"), "{dry}");
    assert!(!desk.names(&[]).contains(&"dry".to_owned()));
    // The same key makes one job.
    let submit = ["submit", "--name", "once", "--request", "cpu=9", "--key", "k"];
    assert_eq!(desk.json(&submit)["id"], desk.json(&submit)["id"]);
    for (arguments, words) in [
        (&["submit"][..], "tasks is 0: expected 1 to 1000 roles"),
        (&["submit", "none.json"], "none.json"),
        (&["submit", "bad.json"], "bad.json: no job"),
        (&["submit", "list.json"], "list.json: no job"),
        (&["submit", "job.json", "--count", "2"], "--count and --request: expected without a file"),
        (&["submit", "--request", "cpu=1", "--queue", "none"], "queue is \"none\""),
        (&["submit", "--request", "cpu=1", "--name", "plain"], "has a job \"plain\" already"),
        (&["submit", "--request", "fpga=1"], "tasks[0].requests.fpga is \"1\""),
        (&["submit", "--request", "cpu=1", "--min-available", "2"], "min_available is 2"),
        (&["submit", "--name", "other", "--request", "cpu=9", "--key", "k"], "Idempotency-Key"),
        (&["submit", "--request", "cpu=1", "--priority-class", "x"], "priority_class is \"x\""),
    ] {
        let told = desk.refused(arguments);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
}

#[test]
fn jobs_are_listed_by_what_they_are() {
    let file =
        r#"{"name": "blue", "tasks": [{"labels": {"team": "blue"}, "requests": {"cpu": 1}}]}"#;
    let desk = Desk::new(&[("blue.json", file)]);
    let _ = desk.server.client().post("/v1/queues", &json!({"name": "other"})).expect(201);
    desk.told(&["submit", "blue.json"]);
    desk.told(&["submit", "--name", "big", "--request", "cpu=9", "--queue", "other"]);
    desk.told(&["submit", "--name", "there", "--request", "cpu=9", "--namespace", "elsewhere"]);
    desk.wait("blue", |job| job["counts"]["Bound"] == 1);
    let table = desk.told(&["list"]);
    for words in ["admin/blue", "elsewhere/there", "Running", "Pending"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    for (arguments, names) in [
        (&[][..], &["blue", "big", "there"][..]),
        (&["--limit", "2"], &["blue", "big"]),
        (&["--queue", "other"], &["big"]),
        (&["--namespace", "elsewhere"], &["there"]),
        (&["--name", "there"], &["there"]),
        (&["--phase", "Pending"], &["big", "there"]),
        (&["--host", "h0"], &["blue"]),
        (&["--host", "h1"], &[]),
        (&["--label", "team"], &["blue"]),
        (&["--label", "team=blue"], &["blue"]),
        (&["--label", "team=red"], &[]),
        (&["--label", "team=blue", "--phase", "Pending"], &[]),
    ] {
        assert_eq!(desk.names(arguments), names, "{arguments:?}");
    }
    let client = desk.server.client();
    let by_project = client.get("/v1/jobs?project=elsewhere").expect(200).json();
    assert_eq!(by_project["jobs"][0]["name"], "there");
    let both = client.get("/v1/jobs?project=a&namespace=b").expect(400).json();
    assert_eq!(both["errors"][0]["field"], "project");
    let told = desk.refused(&["list", "--phase", "Gone"]);
    assert!(told.contains("phase is \"Gone\": expected Pending or Inqueue"), "{told}");
}

#[test]
fn jobs_are_shown_explained_held_released_requeued_and_cancelled() {
    let desk = Desk::new(&[]);
    let run = desk.json(&["submit", "--name", "run", "--count", "2", "--request", "cpu=2"]);
    desk.wait("run", |job| job["counts"]["Bound"] == 2);
    desk.told(&["submit", "--name", "waits", "--request", "cpu=1"]);
    let shown = desk.told(&["show", "run"]);
    for words in ["run/task/0", "run/task/1", "Bound", "h0", "min_available"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let by_id = desk.json(&["show", run["id"].as_str().unwrap()]);
    assert_eq!(by_id["tasks"].as_array().unwrap().len(), 2);

    let told = desk.told(&["explain", "waits"]);
    assert!(told.starts_with("job admin/waits is Pending in queue default\n"), "{told}");
    assert!(told.contains("position 1 of 1 that wait there"), "{told}");
    assert!(told.contains("queue default may hold 4 VCPU: 4 are held, 1 are asked for"), "{told}");
    let told = desk.json(&["explain", "waits"]);
    assert_eq!(
        (&told["position"], &told["reasons"][0]["kind"]),
        (&json!(1), &json!("queue_limit"))
    );
    assert_eq!(desk.json(&["explain", "run"])["reasons"], json!([]));

    let told = desk.told(&["hold", "waits"]);
    assert_eq!(told, "job admin/waits is Suspended (Pending=1)\n");
    assert_eq!(desk.json(&["release", "waits"])["phase"], "Pending");
    let told = desk.refused(&["release", "waits"]);
    assert!(told.contains("only a suspended job is resumed"), "{told}");
    let told = desk.told(&["requeue", "run"]);
    assert_eq!(told, "job admin/run is Pending (Releasing=2)\n");
    let told = desk.told(&["cancel", "run", "--force"]);
    assert_eq!(told, "job admin/run is Cancelled (Cancelled=2)\n");
    desk.wait("waits", |job| job["counts"]["Bound"] == 1);
    assert_eq!(desk.json(&["cancel", "waits"])["counts"], json!({"Releasing": 1}));

    for verb in ["show", "explain", "cancel", "hold", "release", "requeue"] {
        assert!(desk.refused(&[verb, "none"]).contains("there is no job \"none\""), "{verb}");
        let gone = "00000000-0000-0000-0000-000000000001";
        assert!(desk.refused(&[verb, gone]).contains(gone), "{verb}");
    }
    desk.told(&["submit", "--name", "waits", "--request", "cpu=1", "--namespace", "b"]);
    let told = desk.refused(&["show", "waits"]);
    assert!(told.contains("name it by its id (stowplan job list)"), "{told}");
    let nobody = stowplan(&desk.folder, &["job", "list", "--url", "http://127.0.0.1:1"]);
    assert_eq!((nobody.code, nobody.stdout.as_str()), (3, ""));
}

#[test]
fn a_snapshot_of_batch_is_evaluated() {
    let desk = Desk::new(&[]);
    desk.told(&["submit", "--name", "runs", "--count", "3", "--request", "cpu=1"]);
    desk.wait("runs", |job| job["counts"]["Bound"] == 3);
    desk.told(&["submit", "--name", "held", "--request", "cpu=1", "--hold"]);
    desk.told(&["submit", "--name", "waits", "--request", "cpu=2"]);
    let snapshot =
        stowplan(&desk.folder, &["snapshot", "--form", "batch", "--url", desk.server.url()]);
    assert_eq!(snapshot.code, 0, "{}", snapshot.stderr);
    let exported: Value = serde_json::from_str(&snapshot.stdout).unwrap();
    assert_eq!(exported["nodes"][0]["allocatable"]["cpu"], "4");
    let mut names: Vec<_> =
        exported["jobs"].as_array().unwrap().iter().map(|job| job["name"].as_str()).collect();
    names.sort();
    assert_eq!(names, [Some("runs"), Some("waits")]);
    let mut small = exported.clone();
    small["nodes"].as_array_mut().unwrap().push(json!({"name": "h1",
        "allocatable": {"cpu": "2", "memory": "8Gi", "pods": 10}}));
    // What a queue may have is exported as it was, so it has to be told of the host.
    let default = small["queues"].as_array_mut().unwrap().iter_mut();
    let default = default.into_iter().find(|queue| queue["name"] == "default").unwrap();
    assert_eq!(default["capability"]["cpu"], "4");
    default["capability"]["cpu"] = json!("6");
    for (file, case, binds) in [
        ("as-is.json", &exported, json!({})),
        ("one-more.json", &small, json!({"admin/waits-task-0": "h1"})),
    ] {
        std::fs::write(desk.folder.path().join(file), case.to_string()).unwrap();
        let told = stowplan(&desk.folder, &["evaluate", file, "--format", "json"]);
        assert_eq!(told.code, 0, "{}", told.stderr);
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        assert!(told.to_string().contains(&format!("\"binds\":{binds}")), "{told:#}");
    }
    let wrong = desk.server.client().get("/v1/snapshot?form=csv").expect(400).json();
    assert_eq!(wrong["errors"][0]["expected"], "cloud or batch");
}

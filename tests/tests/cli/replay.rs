//! `stowplan replay` on a small made-up recording.

use super::{folder, stowplan};
use serde_json::{Value, json};
use stowplan_tests::{Builder, Output, Server};
use tempfile::TempDir;

const NODES: &str = "\
sn,cpu_milli,memory_mib,gpu,model
plain,8000,16384,0,
small,4000,8192,1,T4
large,16000,32768,2,V100M16
";

/// What comes of each is plain: which are placed does not depend on where.
const TASKS: &str = "\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
half,1500,1000,1,500,T4,LS,Running,0,100,0
other-half,1250,1000,1,500,T4,LS,Running,1,10,1
no-more-of-t4,100,100,1,10,T4,LS,Running,2,50,2
both,2000,4096,2,1000,,LS,Running,3,40,3
no-gpu-left,100,100,1,1000,T4|V100M16,LS,Running,5,50,5
in-place-of-other-half,100,100,1,500,T4,LS,Running,10,60,10
too-large,16001,100,0,0,,BE,Pending,11,,
stays,250,64,0,0,,BE,Running,12,,
at-once,1,1,0,0,,BE,Succeeded,13,13,13
";

fn recording() -> TempDir {
    folder(&[("nodes.csv", NODES), ("tasks.csv", TASKS)])
}

fn replay(server: &Server, folder: &TempDir, more: &[&str]) -> Output {
    let url = server.url();
    let files = ["--nodes", "nodes.csv", "--tasks", "tasks.csv"];
    let mut arguments = vec!["replay", "--url", url, "--format", "openb"];
    arguments.extend(files);
    arguments.extend(more);
    stowplan(folder, &arguments)
}

fn report(output: &Output) -> Value {
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", output.stdout, output.stderr))
}

#[test]
fn every_task_is_placed_or_rightly_refused_and_the_books_agree() {
    let (server, folder) = (Server::start(), recording());
    let output = replay(&server, &folder, &["--verify", "--output", "json"]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    let report = report(&output);
    assert_eq!((&report["placed"], &report["refused"]), (&json!(6), &json!(3)));
    // All but the one that stays and those that were refused.
    assert_eq!(report["released"], 5);
    assert_eq!((&report["false_refusals"], &report["wrong"]), (&json!([]), &json!([])));
    for proof in report["proofs"].as_array().unwrap() {
        assert_eq!((&proof["providers"], &proof["differences"]), (&json!(6), &json!([])));
    }
    assert_eq!(report["allocated"]["peak"]["gpu_percent"], 100.0);
    assert!(report["allocated"]["end"]["cpu_percent"].as_f64().unwrap() > 0.0);
    // What stays is held by the server too.
    let usages = server.client().get("/usages?project_id=replay").expect(200).json();
    assert_eq!(usages["usages"]["INSTANCE"]["VCPU"], 250);
}

#[test]
fn a_server_that_is_not_empty_is_refused() {
    let (server, folder) = (Server::start(), recording());
    assert_eq!(replay(&server, &folder, &[]).code, 0);
    let output = replay(&server, &folder, &[]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("holds claims already"), "{}", output.stderr);
}

#[test]
fn tables_are_for_people() {
    let (server, folder) = (Server::start(), recording());
    let output = replay(&server, &folder, &["--limit", "5", "--speed", "1000"]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    for text in ["decisions per second", "select_destinations", "p99", "gpu (devices)", "0 differ"]
    {
        assert!(output.stdout.contains(text), "{text}: {}", output.stdout);
    }
}

#[test]
fn several_at_once_keep_the_books_too() {
    let (server, folder) = (Server::start(), recording());
    let output = replay(&server, &folder, &["--concurrency", "4", "--output", "json"]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    let report = report(&output);
    assert_eq!(report["placed"].as_u64().unwrap() + report["refused"].as_u64().unwrap(), 9);
    let both = replay(&server, &folder, &["--concurrency", "4", "--verify"]);
    assert_eq!(both.code, 2);
    assert!(both.stderr.contains("--verify needs --concurrency 1"), "{}", both.stderr);
}

#[test]
fn refusals_although_there_is_room_are_found_out() {
    // To this server a host is down a second after its last sign of life.
    let server = Builder::new().set("service_down_time=1").set("report_interval=0").start();
    let tasks = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,\
                 deletion_time,scheduled_time\nearly,250,64,0,0,,,,0,3,0\nlate,250,64,0,0,,,,5,6,5\n";
    let folder = folder(&[("nodes.csv", NODES), ("tasks.csv", tasks)]);
    let output = replay(&server, &folder, &["--verify", "--speed", "2"]);
    assert_eq!(output.code, 1, "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("task late was refused and fits on plain"), "{}", output.stdout);
}

#[test]
fn a_recording_that_is_none_is_named_with_its_place() {
    let folder = folder(&[("nodes.csv", NODES), ("tasks.csv", "name,cpu_milli\nx,1\n")]);
    let files = ["replay", "--nodes", "nodes.csv", "--tasks", "tasks.csv"];
    let output = stowplan(&folder, &files);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("tasks.csv:2: "), "{}", output.stderr);
    let nobody = ["replay", "--url", "http://127.0.0.1:1", "--nodes", "nodes.csv", "--tasks"];
    let folder = recording();
    let output = stowplan(&folder, &[&nobody[..], &["tasks.csv"]].concat());
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("http://127.0.0.1:1"), "{}", output.stderr);
}

//! `stowplan db import`: what is taken over, and what is refused.

mod killed;
mod refusals;

use super::{folder, stowplan};
use serde_json::{Value, json};
use std::fs;
use stowplan_db::{Backend, ConnectSpec, sea_orm::ConnectionTrait as _};
use stowplan_tests::{Builder, Output, Server};
use tempfile::TempDir;

const SCHEMA: &str = include_str!("placement.sql");
const HOST: &str = "/resource_providers/11111111-1111-4111-8111-111111111111";
const DEVICE: &str = "/resource_providers/22222222-2222-4222-8222-222222222222";
const CONSUMER: &str = "/allocations/55555555-5555-4555-8555-555555555555";

/// A folder with the small database of the peer, `placement.db`, in which these
/// statements have been run.
fn peer(statements: &str) -> TempDir {
    let folder = folder(&[]);
    change(&folder, &format!("{SCHEMA}{statements}"));
    folder
}

/// Runs statements in the peer's database of a folder.
fn change(folder: &TempDir, statements: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = format!("sqlite://{}/placement.db", folder.path().display());
        let database = stowplan_db::connect(&ConnectSpec::new(Backend::Sqlite, url)).await.unwrap();
        database.writer().await.execute_unprepared(statements).await.unwrap();
        database.close().await.unwrap();
    });
}

/// `stowplan db import` of the peer's database in a folder, into `stowplan.db`.
fn import(folder: &TempDir, more: &[&str]) -> Output {
    let mut arguments = vec!["db", "import", "--from", "sqlite:///placement.db"];
    arguments.extend(more);
    stowplan(folder, &arguments)
}

fn report(output: &Output) -> Value {
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", output.stdout, output.stderr))
}

fn serve(folder: &TempDir) -> Server {
    Builder::new().folder(folder.path()).start()
}

#[test]
fn everything_is_there_afterwards_as_it_was() {
    let folder = peer("");
    let output = import(&folder, &["--format", "json"]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    let told = report(&output);
    assert_eq!((&told["imported"], &told["notes"]), (&json!(true), &json!([])));
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.contains(&json!({"what": "allocations", "rows": 3})), "{rows:?}");

    let server = serve(&folder);
    let client = server.client().at("1.39");
    let host = client.get(HOST).expect(200);
    assert_eq!(host.header("last-modified"), "Wed, 03 Mar 2021 12:34:56 GMT");
    assert_eq!((&host.json()["name"], &host.json()["generation"]), (&json!("host"), &json!(7)));
    assert_eq!(client.get(DEVICE).json()["parent_provider_uuid"], &HOST[20..]);
    let held = client.get(CONSUMER).expect(200);
    assert_eq!(held.header("last-modified"), "Wed, 02 Feb 2022 02:02:02 GMT");
    let held = held.json();
    for (field, value) in [
        ("project_id", json!("p1")),
        ("user_id", json!("u1")),
        ("consumer_generation", json!(4)),
        ("consumer_type", json!("INSTANCE")),
    ] {
        assert_eq!(held[field], value, "{field}");
    }
    assert_eq!(client.get(&format!("{DEVICE}/usages")).json()["usages"]["CUSTOM_FPGA"], 5);
    let found = client.get("/allocation_candidates?resources=VCPU:1,DISK_GB:10").expect(200);
    assert_eq!(found.json()["allocation_requests"].as_array().unwrap().len(), 1);

    // What comes next goes on where the peer stopped.
    let _ = client.put("/traits/CUSTOM_NEW", &json!({})).expect(201);
    let changed = json!({"name": "host", "parent_provider_uuid": null});
    assert_eq!(client.put(HOST, &changed).expect(200).json()["generation"], 7);
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = peer("");
    let output = import(&folder, &["--dry-run"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for word in ["resource providers", "nothing stands in the way"] {
        assert!(output.stdout.contains(word), "{word}: {}", output.stdout);
    }
    assert!(!folder.path().join("stowplan.db").exists());
}

#[test]
fn the_original_is_not_changed() {
    let folder = peer("");
    let before = fs::read(folder.path().join("placement.db")).unwrap();
    assert_eq!(import(&folder, &[]).code, 0);
    assert!(before == fs::read(folder.path().join("placement.db")).unwrap());
}

#[test]
fn a_ledger_that_a_service_has_started_on_is_empty_enough() {
    let folder = peer("");
    assert!(serve(&folder).stop().success());
    let output = import(&folder, &[]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    let server = serve(&folder);
    let _ = server.client().get(HOST).expect(200);
    let _ = server.client().at("1.39").get("/traits/HW_CPU_X86_AVX2").expect(204);
}

#[test]
fn a_ledger_in_use_is_refused_and_left_as_it_is() {
    let folder = peer("");
    assert_eq!(import(&folder, &[]).code, 0);
    let again = import(&folder, &["--format", "json"]);
    assert_eq!(again.code, 1);
    let told = report(&again);
    let why = "the ledger is not empty: it holds 1 custom resource classes, 1 custom traits, \
               3 resource providers, 2 consumers";
    assert_eq!((&told["imported"], &told["refused"]), (&json!(false), &json!(why)));
    let server = serve(&folder);
    let beside = import(&folder, &[]);
    assert_eq!(beside.code, 3);
    assert!(beside.stderr.contains("in use by another stowplan process"), "{}", beside.stderr);
    let _ = server.client().get(HOST).expect(200);
}

#[test]
fn what_no_answer_depends_on_is_left_out_and_told() {
    let folder = peer(
        "INSERT INTO consumers VALUES (NULL, NULL, 9, '99999999-9999-4999-8999-999999999999', 1, 1, 1, NULL);
         INSERT INTO projects VALUES (NULL, NULL, 9, 'nobody');
         INSERT INTO users VALUES (NULL, NULL, 9, 'nobody');
         INSERT INTO consumer_types VALUES (NULL, NULL, 9, 'NONE');
         INSERT INTO placement_aggregates VALUES (NULL, NULL, 9, '88888888-8888-4888-8888-888888888888');
         UPDATE resource_providers SET created_at = NULL, updated_at = NULL WHERE id = 3;
         UPDATE consumers SET uuid = 'ABCDEF0123456789ABCDEF0123456789' WHERE id = 2;
         UPDATE allocations SET consumer_id = 'ABCDEF0123456789ABCDEF0123456789' WHERE id = 3;",
    );
    let output = import(&folder, &["--format", "json"]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    let told = report(&output);
    let notes = told["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 7, "{notes:?}");
    assert!(notes.iter().all(|note| note["rows"] == 1), "{notes:?}");
    let server = serve(&folder);
    let path = "/allocations/abcdef01-2345-6789-abcd-ef0123456789";
    assert_eq!(server.client().at("1.39").get(path).json()["project_id"], "p2");
}

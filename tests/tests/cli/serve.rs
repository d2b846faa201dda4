//! `stowplan serve`: start, stop, signals, and what is left afterwards.

use super::{folder, stowplan};
use serde_json::{Value, json};
use std::{fs, net::TcpListener};
use stowplan_tests::{Builder, Server};

/// A provider that is made, and looked for later.
const PROVIDER: &str = "5b0e3c4c-8f5b-4c7e-9e0c-2b8f6f0c8a11";

fn make_provider(server: &Server) {
    let body = json!({"uuid": PROVIDER, "name": "kept"});
    let _ = server.client().post("/resource_providers", &body).expect(200);
}

fn provider_is_there(server: &Server) {
    let path = format!("/resource_providers/{PROVIDER}");
    assert_eq!(server.client().get(&path).expect(200).json()["name"], "kept");
}

#[test]
fn it_answers_and_stops_when_asked() {
    let mut server = Server::start();
    let client = server.client();
    assert_eq!(client.get("/").expect(200).json()["versions"][0]["max_version"], "1.39");
    for probe in ["/healthz", "/readyz"] {
        let _ = client.clone().header("x-auth-token", "").get(probe).expect(200);
    }
    // The client keeps its connection; that must not hold up the stop.
    let status = server.stop();
    assert!(status.success(), "{status}");
    assert!(server.log().contains("stopped"));
}

#[test]
fn nothing_is_lost_by_a_stop_or_a_kill() {
    let mut server = Server::start();
    make_provider(&server);
    assert!(server.stop().success());
    server.start_again();
    provider_is_there(&server);
    server.kill();
    server.start_again();
    provider_is_there(&server);
}

#[test]
fn a_second_service_on_the_same_database_is_refused() {
    let server = Server::start();
    let file = server.folder().join("stowplan.db");
    let set = format!("placement_database.connection=sqlite:///{}", file.display());
    let folder = folder(&[]);
    let output = stowplan(&folder, &["serve", "--set", &set, "--set", "api.bind_port=0"]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("in use by another stowplan process"), "{}", output.stderr);
}

#[test]
fn an_address_in_use_is_named_before_a_database_is_made() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let folder = folder(&[]);
    let output = stowplan(&folder, &["serve", "--set", &format!("api.bind_port={port}")]);
    assert_eq!(output.code, 3);
    let said = format!("cannot listen on 127.0.0.1:{port}");
    assert!(output.stderr.contains(&said), "{}", output.stderr);
    assert!(!folder.path().join("stowplan.db").exists());
}

#[test]
fn a_filter_that_does_not_exist_is_wrong_usage() {
    let folder = folder(&[]);
    let set = "filter_scheduler.enabled_filters=ComputeFilter,ComputerFilter";
    let output = stowplan(&folder, &["serve", "--set", set, "--set", "api.bind_port=0"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("ComputerFilter"), "{}", output.stderr);
    assert!(!folder.path().join("stowplan.db").exists());
}

#[test]
fn believing_any_token_is_for_loopback() {
    let folder = folder(&[]);
    let everywhere = "api.bind_host=0.0.0.0";
    let output = stowplan(&folder, &["serve", "--set", everywhere]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("allow_insecure_noauth"), "{}", output.stderr);
    let server = Builder::new().set(everywhere).set("api.allow_insecure_noauth=true").start();
    assert!(server.url().starts_with("http://0.0.0.0:"), "{}", server.url());
}

#[test]
fn sighup_takes_up_what_may_change_and_a_bad_file_changes_nothing() {
    let folder = folder(&[("s.conf", "[DEFAULT]\ndebug = false\n")]);
    let file = folder.path().join("s.conf");
    let server = Builder::new().config(&file).start();
    fs::write(&file, "[DEFAULT]\ndebug = true\n[api]\nworkers = 3\n").unwrap();
    server.signal("HUP");
    server.wait_for_log("the configuration was read again");
    let log = server.log();
    assert!(log.contains("changed [DEFAULT] debug: \"false\" -> \"true\""), "{log}");
    assert!(log.contains("waits for the next start: [api] workers"), "{log}");
    fs::write(&file, "[api]\nmax_limit = none\n").unwrap();
    server.signal("HUP");
    server.wait_for_log("the old one stays in force");
    assert!(server.log().contains("s.conf:2: [api] max_limit"), "{}", server.log());
    let _ = server.client().get("/").expect(200);
}

#[test]
fn the_log_can_be_json() {
    let mut server = Builder::new().set("DEFAULT.use_json=true").start();
    server.stop();
    let log = server.log();
    let lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert!(lines.iter().any(|line| line["fields"]["message"] == "ready"), "{log}");
}

#[test]
fn an_unfinished_schema_stops_the_start_where_that_is_wanted() {
    let folder = folder(&[]);
    let set = "placement_database.sync_on_startup=false";
    let output = stowplan(&folder, &["serve", "--set", set, "--set", "api.bind_port=0"]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("stowplan db sync"), "{}", output.stderr);
    assert_eq!(stowplan(&folder, &["db", "sync"]).code, 0);
    let mut server = Builder::new().folder(folder.path()).set(set).start();
    assert!(server.stop().success());
}

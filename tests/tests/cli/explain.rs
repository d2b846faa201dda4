//! `stowplan explain`.

use crate::{folder, stowplan};
use serde_json::{Value, json};
use stowplan_tests::Server;

#[test]
fn a_query_is_taken_apart_for_people_and_for_programs() {
    let server = Server::start();
    let client = server.client();
    let body = json!({"name": "compute-1", "uuid": uuid::Uuid::new_v4()});
    let provider = client.post("/resource_providers", &body).expect(200).json();
    let path = format!("/resource_providers/{}/inventories", provider["uuid"].as_str().unwrap());
    let body = json!({"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}});
    let _ = client.put(&path, &body).expect(200);

    let folder = folder(&[]);
    let ask = |query: &str, more: &[&str]| {
        let mut arguments = vec!["explain", "candidates", query, "--url", server.url()];
        arguments.extend_from_slice(more);
        stowplan(&folder, &arguments)
    };
    let told = ask("resources=VCPU:9", &[]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    for words in ["9 VCPU", "8 at compute-1", "no candidate", "without: 9 VCPU"] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    let told = ask("/allocation_candidates?resources=VCPU:2", &["--format", "json"]);
    let explained: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(explained["candidates"], json!({"count": 1, "more": false}));

    let told = ask("resources=VCPU", &[]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("Badly formed resources parameter"), "{}", told.stderr);
    let told = stowplan(&folder, &["explain", "candidates", "a=b", "--url", "http://127.0.0.1:1"]);
    assert_eq!(told.code, 3);
}

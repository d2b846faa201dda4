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

#[test]
fn a_decision_is_explained_by_its_id_or_its_requests() {
    let server = Server::start();
    let client = server.client();
    for (host, vcpus) in [("small", 2), ("large", 8)] {
        let report = json!({"vcpus": vcpus, "memory_mb": 8192, "local_gb": 100});
        let _ = client.put(&format!("/v1/hosts/{host}"), &report).expect(201);
    }
    let _ = client.post("/v1/hosts/heartbeat", &json!({"hosts": ["small", "large"]}));
    let select = |vcpus: i64| {
        let flavor = json!({"vcpus": vcpus, "memory_mb": 512, "root_gb": 1});
        client.post("/v1/select_destinations", &json!({"flavor": flavor}))
    };
    let placed = select(1).expect(200);
    let decision = placed.json()["decision_id"].as_str().unwrap().to_owned();
    let refused = select(64).expect(409);

    let folder = folder(&[]);
    let ask = |id: &str, more: &[&str]| {
        let mut arguments = vec!["explain", id, "--url", server.url()];
        arguments.extend_from_slice(more);
        // The explanation is written a moment after the answer.
        for _ in 0..50 {
            let told = stowplan(&folder, &arguments);
            if told.code != 0 || !told.stdout.contains("not written yet") {
                return told;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the explanation of {id} is never written");
    };
    let told = ask(&decision, &[]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    for words in ["placed", "2 hosts had a candidate", "large/large", "ComputeFilter", "CPUWeigher"]
    {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    let told = ask(refused.header("x-openstack-request-id"), &[]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    for words in [
        "no valid host",
        "0 hosts had a candidate",
        "64 VCPU",
        "7 at large",
        "7 VCPU instead of 64",
    ] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    let told = ask(&decision, &["--format", "json"]);
    let shown: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(shown["id"], json!(decision));

    let unknown = uuid::Uuid::new_v4().to_string();
    for (id, words) in
        [(unknown.as_str(), unknown.as_str()), ("req-nobody", "request req-nobody has no decision")]
    {
        let told = ask(id, &[]);
        assert_eq!(told.code, 2, "{id}");
        assert!(told.stderr.contains(words), "{id}: {}", told.stderr);
    }
    let told = stowplan(&folder, &["explain"]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("expected the id of a decision"), "{}", told.stderr);
}

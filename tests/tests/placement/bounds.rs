//! Answers with a bound: how many candidates, of which hosts, in which order.

use serde_json::json;
use std::collections::BTreeSet;
use stowplan_tests::{Client, Server};
use uuid::Uuid;

/// Two hosts of eight devices of one unit each.
fn devices(client: &Client) {
    let _ = client.send("PUT", "/resource_classes/CUSTOM_DEV", None).expect(201);
    for host in 0..2 {
        let root = provider(client, &format!("host-{host}"), None);
        for device in 0..8 {
            let child = provider(client, &format!("host-{host}-{device}"), Some(root));
            let body = json!({"resource_provider_generation": 0,
                "inventories": {"CUSTOM_DEV": {"total": 1}}});
            let path = format!("/resource_providers/{child}/inventories");
            let _ = client.put(&path, &body).expect(200);
        }
    }
}

fn provider(client: &Client, name: &str, parent: Option<Uuid>) -> Uuid {
    let uuid = Uuid::new_v4();
    let body = match parent {
        Some(parent) => json!({"uuid": uuid, "name": name, "parent_provider_uuid": parent}),
        None => json!({"uuid": uuid, "name": name}),
    };
    let _ = client.post("/resource_providers", &body).expect(200);
    uuid
}

/// The query of some groups of one device each, kept apart.
fn isolated(groups: usize) -> String {
    let groups: Vec<String> = (1..=groups).map(|n| format!("resources{n}=CUSTOM_DEV:1")).collect();
    format!("/allocation_candidates?group_policy=isolate&{}", groups.join("&"))
}

/// How many candidates an answer holds, and of how many hosts.
fn counted(client: &Client, path: &str) -> (usize, usize) {
    let answer = client.get(path).expect(200).json();
    let summaries = &answer["provider_summaries"];
    let all = answer["allocation_requests"].as_array().expect("a list");
    let roots: BTreeSet<&str> = all
        .iter()
        .flat_map(|one| one["allocations"].as_object().expect("an object").keys())
        .map(|uuid| summaries[uuid]["root_provider_uuid"].as_str().expect("a uuid"))
        .collect();
    let distinct: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(distinct.len(), all.len(), "a candidate came twice");
    (all.len(), roots.len())
}

fn server(set: &[&str]) -> Server {
    let server = Server::with(set);
    devices(&server.client());
    server
}

#[test]
fn devices_kept_apart_are_counted_exactly() {
    let server = server(&[]);
    let client = server.client();
    for (groups, expected) in [(2, 112), (3, 672), (4, 3_360), (5, 13_440)] {
        assert_eq!(counted(&client, &isolated(groups)), (expected, 2), "{groups} groups");
        let limited = format!("{}&limit=10", isolated(groups));
        assert_eq!(counted(&client, &limited), (10, 2), "{groups} groups");
    }
    assert_eq!(counted(&client, &isolated(9)), (0, 0));
}

#[test]
fn a_strategy_that_is_named_is_obeyed() {
    for (strategy, hosts) in [("depth-first", 1), ("breadth-first", 2)] {
        let option = format!("placement.allocation_candidates_generation_strategy={strategy}");
        let server = server(&[&option]);
        let limited = format!("{}&limit=10", isolated(3));
        assert_eq!(counted(&server.client(), &limited), (10, hosts), "{strategy}");
        assert_eq!(counted(&server.client(), &isolated(3)), (672, 2), "{strategy}");
    }
}

#[test]
fn the_service_s_own_bound_goes_round_the_hosts_too() {
    let server = server(&["placement.max_allocation_candidates=12"]);
    let client = server.client();
    assert_eq!(counted(&client, &isolated(3)), (12, 2));
    assert_eq!(counted(&client, &format!("{}&limit=20", isolated(3))), (12, 2));
    assert_eq!(counted(&client, &format!("{}&limit=3", isolated(3))), (3, 2));
}

#[test]
fn a_random_order_loses_nothing_and_changes() {
    let server = server(&["placement.randomize_allocation_candidates=true"]);
    let client = server.client();
    assert_eq!(counted(&client, &isolated(2)), (112, 2));
    assert_eq!(counted(&client, &format!("{}&limit=10", isolated(2))), (10, 2));
    // Two of 112! orders are the same only if nothing is random.
    let answer = || client.get(&isolated(2)).expect(200).json()["allocation_requests"].clone();
    assert_ne!(answer(), answer());
}

#[test]
fn an_answer_that_would_take_all_memory_is_refused() {
    // Four groups: 3,360 candidates of four shares each.
    let (small, large) = (server(&["api.max_candidates_mb=1"]), server(&[]));
    let (three, four) = (isolated(3), isolated(4));
    assert_eq!(counted(&small.client(), &three).0, 672);
    let refused = small.client().get(&four).expect(400).json();
    let detail = refused["errors"][0]["detail"].as_str().unwrap();
    assert!(
        detail.contains("more than 1 MiB ([api] max_candidates_mb): ask with a limit"),
        "{detail}"
    );
    assert_eq!(counted(&small.client(), &format!("{four}&limit=50")).0, 50);
    assert_eq!(counted(&large.client(), &four).0, 3360);
}

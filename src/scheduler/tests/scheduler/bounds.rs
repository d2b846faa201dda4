//! How long the texts and lists of a request may be.

use serde_json::json;
use stowplan_scheduler::SchedulerError;

use crate::cloud::{Cloud, host, small_with};

#[tokio::test]
async fn what_is_longer_than_is_kept_or_can_be_meant_is_refused() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let many = |count: usize| -> Vec<String> { (0..count).map(|n| format!("n{n}")).collect() };
    let long = "x".repeat(256);
    let specs = |count: usize| -> serde_json::Map<String, serde_json::Value> {
        many(count).into_iter().map(|name| (name, json!("1"))).collect()
    };
    let device = |id: usize, count: i64| json!({"request_id": format!("r{id}"), "count": count, "spec": [{"a": "b"}]});
    let group = |id: usize| json!({"requester_id": format!("g{id}"), "resources": {"VCPU": 1}});
    let groups = |count: usize| -> Vec<serde_json::Value> { (0..count).map(group).collect() };
    let flavor = |specs: serde_json::Value| json!({"vcpus": 1, "extra_specs": specs});
    for (field, more) in [
        ("project_id", json!({"project_id": long})),
        ("user_id", json!({"user_id": long})),
        ("user_id", json!({"user_id": "a\0b"})),
        ("ignore_hosts", json!({"ignore_hosts": many(10_001)})),
        ("force_nodes", json!({"force_nodes": many(10_001)})),
        ("hint.nodeNames", json!({"hint": {"nodeNames": many(10_001)}})),
        ("scheduler_hints", json!({"scheduler_hints": {"same_host": many(10_001)}})),
        ("flavor.extra_specs", json!({"flavor": flavor(json!(specs(1001)))})),
        ("flavor.extra_specs.a", json!({"flavor": flavor(json!({"a": long}))})),
        ("requested_resources", json!({"requested_resources": groups(257)})),
        (
            "requested_resources[1].requester_id",
            json!({"requested_resources": [group(1), group(1)]}),
        ),
        ("pci_requests", json!({"pci_requests": [device(1, 200), device(2, 57)]})),
        ("pci_requests[1].request_id", json!({"pci_requests": [device(1, 1), device(1, 1)]})),
        ("same_subtree[0]", json!({"same_subtree": [many(257)]})),
    ] {
        let refusal = cloud.try_select(small_with(more)).await.unwrap_err();
        let SchedulerError::Fields(errors) = &refusal else { panic!("{field}: {refusal}") };
        assert!(errors.all().iter().any(|error| error.field == field), "{field}: {refusal}");
    }
    // Groups of all sources count together.
    let specs: serde_json::Map<_, _> =
        (0..200).map(|n| (format!("resources_S{n}:VCPU"), json!("1"))).collect();
    let asked = json!({"flavor": flavor(json!(specs)), "requested_resources": groups(100)});
    let refusal = cloud.try_select(asked).await.unwrap_err();
    assert_eq!(refusal.status(), 400);
    assert!(refusal.to_string().contains("make 300 groups"), "{refusal}");
    let most = json!({"project_id": &long[1..], "ignore_hosts": many(10_000)});
    cloud.select(small_with(most)).await;
}

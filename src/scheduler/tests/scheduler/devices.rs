//! Devices of hosts that have many of them.

use serde_json::json;

use crate::cloud::{Cloud, host, refused, small_with};

/// A host of two NUMA nodes with eight devices on each; as the devices' providers
/// are known, its pools are reported with them.
async fn report_devices(cloud: &Cloud, used_on_first: i64) {
    let cpus = |node: i64| -> Vec<i64> { (node * 8..node * 8 + 8).collect() };
    let cell = |node: i64| {
        json!({
            "id": node, "cpuset": cpus(node), "pcpuset": cpus(node), "memory": 4096,
            "memory_usage": if node == 0 { used_on_first } else { 0 },
            "mempages": [{"size_kb": 4, "total": 1_048_576}],
        })
    };
    let mut report = host(16);
    let names: Vec<String> = (0..16).map(|n| format!("gpu{n:02}")).collect();
    report["numa_cells"] = json!([cell(0), cell(1)]);
    report["devices"] =
        names.iter().map(|name| json!({"name": name, "resource_class": "CUSTOM_GPU"})).collect();
    cloud.report("h1", report.clone()).await;
    let image = cloud.image();
    let pool = |(place, name): (usize, &String)| {
        let at = image.providers.find_name(&format!("h1_{name}")).unwrap();
        json!({
            "vendor_id": "10de", "product_id": "1db6", "count": 1, "numa_node": place / 8,
            "rp_uuid": image.providers.uuid(at).to_string(), "resource_class": "CUSTOM_GPU",
        })
    };
    report["pci_pools"] = names.iter().enumerate().map(pool).collect();
    cloud.report("h1", report).await;
}

fn near_devices(devices: i64, servers: i64) -> serde_json::Value {
    small_with(json!({
        "count": servers,
        "pci_requests": [{
            "request_id": "r", "count": devices, "spec": [{"resource_class": "gpu"}],
            "numa_policy": "required",
        }],
        "numa_topology": {"cells": [{"id": 0, "cpuset": [0], "memory": 512}]},
    }))
}

async fn with_devices(used_on_first: i64) -> Cloud {
    let cloud = Cloud::with(|settings| {
        settings.filter_scheduler.pci_in_placement = true;
        for name in ["PciPassthroughFilter", "NUMATopologyFilter"] {
            settings.filter_scheduler.enabled_filters.push(name.to_owned());
        }
    })
    .await;
    report_devices(&cloud, used_on_first).await;
    cloud
}

#[tokio::test]
async fn devices_far_behind_in_the_order_are_found() {
    for devices in [2, 8] {
        let cloud = with_devices(4096).await;
        let answer = cloud.select(near_devices(devices, 1)).await;
        let taken = &answer.selections[0].destination.allocation_request.mappings;
        assert_eq!(
            taken.iter().filter(|(suffix, _)| suffix.starts_with("r-")).count(),
            devices as usize
        );
        let image = cloud.image();
        for (_, providers) in taken.iter().filter(|(suffix, _)| suffix.starts_with("r-")) {
            let at = image.providers.find(providers[0]).unwrap();
            let name = image.providers.get(at).unwrap().name.to_string();
            assert!(name.as_str() >= "h1_gpu08", "{name} is on the other node");
        }
    }
}

#[tokio::test]
async fn servers_take_the_devices_of_a_host_two_by_two() {
    let cloud = with_devices(0).await;
    let answer = cloud.select(near_devices(2, 8)).await;
    assert_eq!(answer.selections.len(), 8);
    assert_eq!(cloud.used("h1", "CUSTOM_GPU"), 16);
    let _ = cloud.no_host(near_devices(1, 1)).await;
}

#[tokio::test]
async fn a_refusal_says_that_not_all_candidates_were_looked_at() {
    let cloud = with_devices(4096).await;
    let refusal = cloud.no_host(near_devices(9, 1)).await;
    cloud.scheduler.drain().await;
    let id = refusal.decision_id.unwrap().to_string();
    let decision = refused(cloud.scheduler.decision(&id).await).unwrap();
    let warnings = decision.body.unwrap()["warnings"].to_string();
    assert!(warnings.contains("1 hosts have more ways to choose their devices"), "{warnings}");
}

#[tokio::test]
async fn hosts_with_nothing_left_are_named_up_to_a_bound() {
    let cloud = Cloud::with(|settings| settings.filter_scheduler.pci_in_placement = true).await;
    for number in 0..25 {
        let mut report = host(16);
        report["devices"] = json!([{"name": "gpu", "resource_class": "CUSTOM_GPU"}]);
        cloud.report(&format!("h{number}"), report).await;
    }
    let request = json!({"request_id": "r1", "count": 1, "spec": [{"resource_class": "gpu"}]});
    let refusal = cloud.no_host(small_with(json!({"pci_requests": [request], "count": 26}))).await;
    assert!(
        refusal.reasons.iter().any(|reason| reason.contains("of 25 hosts that passed")),
        "{refusal}"
    );
    cloud.scheduler.drain().await;
    let id = refusal.decision_id.unwrap().to_string();
    let body = refused(cloud.scheduler.decision(&id).await).unwrap().body.unwrap();
    let last = &body["servers"][25];
    assert_eq!(last["exhausted"].as_array().unwrap().len(), 20, "{last}");
    assert_eq!(last["more_exhausted"], 5);
}

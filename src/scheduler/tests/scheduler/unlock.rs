//! The single change that would have given a refused request a host.

use serde_json::{Value, json};

use crate::cloud::{Cloud, NOW, host, small_with};

/// The changes that a refused request's decision tells, and its reasons.
async fn unlocks(cloud: &Cloud, asked: Value) -> (Vec<String>, Vec<String>) {
    let refusal = cloud.no_host(asked).await;
    cloud.scheduler.drain().await;
    let id = refusal.decision_id.unwrap().to_string();
    let body = cloud.scheduler.decision(&id).await.unwrap().body.unwrap();
    let told = body["unlocks"].as_array().unwrap().iter();
    let told = told.map(|it| match it["host"].as_str() {
        Some(host) => format!("{}: {host}", it["text"].as_str().unwrap()),
        None => it["text"].as_str().unwrap().to_owned(),
    });
    (told.collect(), refusal.reasons)
}

#[tokio::test]
async fn less_of_an_amount() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 4).await;
    cloud.report("large", json!({"vcpus": 16, "memory_mb": 512, "local_gb": 10})).await;
    // No host with as much memory has so many CPUs: 16 of them would be
    // elsewhere.
    let flavor = json!({"vcpus": 9, "memory_mb": 2048, "root_gb": 1});
    let (told, reasons) = unlocks(&cloud, json!({"flavor": flavor})).await;
    assert_eq!(
        told,
        ["512 MEMORY_MB instead of 2048, 1536 fewer: large", "4 VCPU instead of 9, 5 fewer: h0"]
    );
    assert_eq!(
        reasons[1],
        "one change would be enough: 512 MEMORY_MB instead of 2048, 1536 fewer (large), or 4 VCPU \
         instead of 9, 5 fewer (h0)"
    );
    // Nothing helps where two amounts are too large for every host.
    let flavor = json!({"vcpus": 99, "memory_mb": 99999, "root_gb": 1});
    let (told, _) = unlocks(&cloud, json!({"flavor": flavor})).await;
    assert!(told.is_empty(), "{told:?}");
}

#[tokio::test]
async fn steps_and_units_are_heeded() {
    let cloud = Cloud::new().await;
    let inventory = json!({
        "VCPU": {"total": 64, "step_size": 4, "max_unit": 10}, "MEMORY_MB": {"total": 4096},
        "DISK_GB": {"total": 10},
    });
    cloud.report("h1", json!({"inventory": inventory})).await;
    let flavor = json!({"vcpus": 12, "memory_mb": 64, "root_gb": 1});
    let (told, _) = unlocks(&cloud, json!({"flavor": flavor})).await;
    assert_eq!(told, ["8 VCPU instead of 12, 4 fewer: h1"]);
}

#[tokio::test]
async fn without_a_requirement_a_field_or_a_filter() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(8)).await;
    let mut silent = host(64);
    silent["service"] = json!({"last_seen_up": NOW.0 - 120_000_000});
    cloud.report("silent", silent).await;
    let specs = json!({"trait:HW_CPU_X86_AVX2": "required"});
    let flavor = |specs: &Value| json!({"vcpus": 1, "memory_mb": 64, "extra_specs": specs});
    let (told, _) = unlocks(&cloud, json!({"flavor": flavor(&specs)})).await;
    assert_eq!(told, [r#"without requirement "trait HW_CPU_X86_AVX2": h1"#]);

    let (told, reasons) = unlocks(&cloud, small_with(json!({"ignore_hosts": ["h1"]}))).await;
    assert_eq!(told, ["without field ignore_hosts: h1", "without filter ComputeFilter: silent"]);
    assert!(reasons[1].starts_with("one change would be enough: without field"), "{reasons:?}");
    let (told, _) = unlocks(&cloud, small_with(json!({"force_hosts": ["gone"]}))).await;
    assert_eq!(told, ["without field force_hosts: h1"]);
    let hint = json!({"nodeNames": ["silent"]});
    let (told, _) = unlocks(&cloud, small_with(json!({"hint": hint}))).await;
    assert_eq!(
        told,
        ["without field nodeNames of the hint: h1", "without filter ComputeFilter: silent"]
    );
}

#[tokio::test]
async fn for_one_of_several_servers() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 4).await;
    let group = cloud.group("anti-affinity").await;
    let asked = small_with(json!({"group": group, "count": 3}));
    let (told, reasons) = unlocks(&cloud, asked).await;
    assert_eq!(
        told,
        ["2 servers instead of 3", "without filter ServerGroupAntiAffinityFilter: h0"]
    );
    assert_eq!(
        reasons[..2],
        [
            "there are hosts for 2 of the servers, none for the next",
            "for server 3 one change would be enough: without filter \
             ServerGroupAntiAffinityFilter (h0)"
        ]
    );
    // Two servers have taken all but one CPU of each.
    let flavor = json!({"vcpus": 3, "memory_mb": 64, "root_gb": 1});
    let (told, _) = unlocks(&cloud, json!({"flavor": flavor, "count": 3})).await;
    assert_eq!(told[..2], ["2 servers instead of 3", "1 VCPU instead of 3, 2 fewer: h0"]);
}

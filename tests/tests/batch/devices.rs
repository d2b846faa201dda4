//! GPUs through the real service: reported by hosts or made by clients of
//! Placement, shared with virtual machines, and lost.

use crate::cloud::{books, hosts, report, submit, tasks, wait};
use serde_json::{Value, json};
use stowplan_tests::{Builder, Client, Server};

/// Reports a host with these devices, each of a thousand shares.
fn with_devices(client: &Client, host: &str, devices: &[&str]) {
    let devices: Vec<Value> = devices
        .iter()
        .map(|name| {
            json!({"name": name, "resource_class": "CUSTOM_GPU_MILLI", "total": 1000,
                "traits": ["CUSTOM_GPU_T4"]})
        })
        .collect();
    let body = json!({"vcpus": 16, "memory_mb": 65_536, "local_gb": 100, "devices": devices});
    let reply = client.put(&format!("/v1/hosts/{host}"), &body);
    assert!(reply.status < 300, "{reply:?}");
}

fn server() -> Server {
    let map = "cpu:VCPU:1,memory:MEMORY_MB:1Mi,nvidia.com/gpu:CUSTOM_GPU_MILLI:1m";
    Builder::new().set(&format!("batch.resource_map={map}")).start()
}

/// A job of so many tasks that each ask for so much of a GPU.
fn sharing(count: i64, gpu: &str) -> Value {
    json!({"min_available": 0, "tasks": [
        {"count": count, "requests": {"cpu": "1", "nvidia.com/gpu": gpu},
            "required_traits": {"nvidia.com/gpu": ["CUSTOM_GPU_T4"]}},
    ]})
}

/// The devices of the tasks that have a place.
fn held(client: &Client, job: &str) -> Vec<Value> {
    let placed = tasks(client, job).into_iter().filter(|task| !task["host"].is_null());
    placed.map(|task| task["devices"].clone()).collect()
}

fn bound(count: usize) -> impl Fn(&Value) -> bool {
    move |job| job["counts"]["Bound"] == count
}

#[test]
fn shares_of_gpus_beside_virtual_machines() {
    let server = server();
    let client = server.client();
    with_devices(&client, "h0", &["gpu0", "gpu1"]);
    let of = |name: &str| {
        let found = client.get(&format!("/resource_providers?name={name}")).json();
        found["resource_providers"][0]["uuid"].as_str().unwrap().to_owned()
    };
    // A virtual machine has most of the first device.
    let claim = json!({
        "allocations": {of("h0_gpu0"): {"resources": {"CUSTOM_GPU_MILLI": 700}}},
        "project_id": "p", "user_id": "u", "consumer_generation": null,
        "consumer_type": "INSTANCE",
    });
    let machine = "/allocations/7d5fb4a4-5a4c-4a4e-8a52-70f7a5ad0001";
    assert_eq!(client.put(machine, &claim).status, 204);
    let job = submit(&client, &sharing(3, "500m"));
    wait(&client, &job, bound(2));
    let device = json!([{"provider": of("h0_gpu1"), "name": "gpu1",
        "resource_class": "CUSTOM_GPU_MILLI", "amount": 500}]);
    assert_eq!(held(&client, &job), [device.clone(), device]);
    let small = submit(&client, &sharing(1, "0.3"));
    wait(&client, &small, bound(1));
    assert_eq!(held(&client, &small)[0][0]["name"], "gpu0");
    books(&client);
    // The machine goes, and the third one finds the device.
    assert_eq!(client.delete(machine).status, 204);
    wait(&client, &job, bound(3));
    books(&client);
    let events = client.get(&format!("/v1/jobs/{job}/events?kinds=task.bound")).json();
    assert_eq!(events["events"][0]["task"]["devices"][0]["name"], "gpu1");
}

#[test]
fn a_device_that_a_client_of_placement_has_made() {
    let server = server();
    let client = server.client();
    hosts(&client, 1, 4);
    let parent = client.get("/v1/hosts/h0").json()["uuid"].clone();
    let (uuid, class) = ("7d5fb4a4-5a4c-4a4e-8a52-70f7a5ad0002", "CUSTOM_GPU_MILLI");
    assert!(client.put("/resource_classes/CUSTOM_GPU_MILLI", &Value::Null).status < 300);
    assert!(client.put("/traits/CUSTOM_GPU_T4", &Value::Null).status < 300);
    let child = json!({"uuid": uuid, "name": "h0_pci", "parent_provider_uuid": parent});
    assert_eq!(client.post("/resource_providers", &child).status, 200);
    let at = |part: &str| format!("/resource_providers/{uuid}/{part}");
    let stock = |generation: i64, total: i64| {
        json!({"resource_provider_generation": generation,
            "inventories": {class: {"total": total, "max_unit": total}}})
    };
    assert_eq!(client.put(&at("inventories"), &stock(0, 1000)).status, 200);
    let traits = json!({"resource_provider_generation": 1, "traits": ["CUSTOM_GPU_T4"]});
    assert_eq!(client.put(&at("traits"), &traits).status, 200);
    let job = submit(&client, &sharing(1, "1"));
    wait(&client, &job, bound(1));
    assert_eq!(held(&client, &job)[0][0]["provider"], uuid);
    // It shrinks under the task, which has to leave it.
    let generation = client.get(&at("inventories")).json()["resource_provider_generation"].clone();
    let less = stock(generation.as_i64().unwrap(), 500);
    assert_eq!(client.put(&at("inventories"), &less).status, 200);
    wait(&client, &job, |job| job["counts"]["Releasing"] == 1);
    assert_eq!(tasks(&client, &job)[0]["leaving"], "device_lost");
}

#[test]
fn a_lost_gpu_stops_only_who_is_on_it() {
    let server = server();
    let client = server.client();
    with_devices(&client, "h0", &["gpu0", "gpu1", "gpu2"]);
    let job = submit(&client, &sharing(3, "1"));
    wait(&client, &job, bound(3));
    report(&client, &tasks(&client, &job), "Running");
    with_devices(&client, "h0", &["gpu0", "gpu2"]);
    wait(&client, &job, |job| job["counts"] == json!({"Running": 2, "Releasing": 1}));
    let stopped: Vec<Value> =
        tasks(&client, &job).into_iter().filter(|task| task["state"] == "Releasing").collect();
    assert_eq!(stopped[0]["devices"][0]["name"], "gpu1");
    report(&client, &stopped, "Released");
    wait(&client, &job, |job| job["counts"] == json!({"Running": 2, "Pending": 1}));
    with_devices(&client, "h0", &["gpu0", "gpu2", "gpu3"]);
    wait(&client, &job, bound(1));
    books(&client);
}

#[test]
fn traits_that_cannot_be() {
    let server = server();
    let client = server.client();
    let job = json!({"tasks": [{"requests": {"cpu": "1"}, "required_traits": {
        "cpu": ["in:HW_CPU_X86_AVX2,lots"], "nvidia.com/gpu": ["CUSTOM_GPU_T4"],
    }}]});
    let reply = client.post("/v1/jobs", &job);
    assert_eq!(reply.status, 400);
    let said = reply.json().to_string();
    assert!(said.contains("tasks[0].required_traits.cpu[0] is"), "{said}");
    assert!(said.contains("required_traits.nvidia.com/gpu is"), "{said}");
}

//! What all clients contend for: a few hosts with less than they ask for.

use crate::{
    model::{Resources, resources},
    reading,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use stowplan_tests::Client;
use uuid::Uuid;

/// Traits that providers get.
pub const TRAITS: [&str; 4] = ["CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_AVX", "STORAGE_DISK_SSD"];
/// How many hosts there are.
const HOSTS: usize = 4;

/// The hosts, and what they have.
#[derive(Debug)]
pub struct Cloud {
    /// The root providers of the hosts.
    pub hosts: Vec<Uuid>,
    /// The inventories of all their providers, which nobody changes.
    pub inventories: BTreeMap<Uuid, Resources>,
}

impl Cloud {
    /// Reports the hosts, and makes the traits that are not standard.
    pub fn set_up(client: &Client) -> Self {
        for name in TRAITS.iter().filter(|name| name.starts_with("CUSTOM_")) {
            let _ = client.send("PUT", &format!("/traits/{name}"), None).expect(201);
        }
        let inventory = resources([("DISK_GB", 200), ("MEMORY_MB", 8192), ("VCPU", 24)]);
        let hosts: Vec<Uuid> = (0..HOSTS).map(|_| Uuid::new_v4()).collect();
        for (number, uuid) in hosts.iter().enumerate() {
            let report = json!({
                "uuid": uuid,
                "inventory": totals(&inventory),
                "hypervisor_type": "QEMU",
                "supported_instances": [["x86_64", "kvm", "hvm"]],
            });
            let _ = client.put(&format!("/v1/hosts/{}", name(number)), &report).expect(201);
        }
        let all = reading::providers(client).into_iter().map(|provider| provider.uuid);
        let inventories = all.map(|uuid| (uuid, reading::inventories(client, uuid))).collect();
        let cloud = Self { hosts, inventories };
        assert!(cloud.hosts.iter().all(|host| cloud.inventories[host] == inventory), "{cloud:?}");
        cloud
    }

    /// The hosts live.
    pub fn heartbeat(client: &Client) {
        let names: Vec<String> = (0..HOSTS).map(name).collect();
        let _ = client.post("/v1/hosts/heartbeat", &json!({"hosts": names})).expect(200);
    }
}

fn name(number: usize) -> String {
    format!("host-{number}")
}

/// Inventories in the form of the API.
pub fn totals(inventories: &Resources) -> Value {
    inventories.iter().map(|(class, total)| (class.clone(), json!({"total": total}))).collect()
}

//! The made-up cloud: hosts in three zones, with host aggregates.

use serde_json::{Value, json};

/// The zones.
pub const ZONES: [&str; 3] = ["zone-a", "zone-b", "zone-c"];
/// The zone that fills one host after the other.
pub const PACKED: &str = "zone-b";
/// Hosts in all.
const HOSTS: usize = 200;
/// Hosts with GPUs, the last of the last zone.
const GPU_HOSTS: usize = 8;
/// GPUs of each of them.
const GPUS: usize = 8;
/// Every so many hosts have fast disks.
const FAST_DISKS: usize = 4;

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name.
    pub name: String,
    zone: &'static str,
    has_gpus: bool,
    has_fast_disks: bool,
}

/// All hosts.
pub fn hosts() -> Vec<Host> {
    let share = HOSTS.div_ceil(ZONES.len());
    (0..HOSTS)
        .map(|number| {
            let zone = ZONES.get(number / share).copied().unwrap_or(PACKED);
            Host {
                name: format!("{zone}-{:03}", number % share + 1),
                zone,
                has_gpus: number >= HOSTS - GPU_HOSTS,
                has_fast_disks: number % FAST_DISKS == 0,
            }
        })
        .collect()
}

impl Host {
    /// What it reports of itself.
    pub fn report(&self) -> Value {
        let gpus = if self.has_gpus { GPUS } else { 0 };
        let devices: Vec<Value> = (0..gpus)
            .map(|number| json!({"name": format!("gpu-{number}"), "resource_class": "PGPU"}))
            .collect();
        let label = if self.has_gpus { "gpu" } else { "none" };
        json!({
            "hypervisor_type": "QEMU",
            "hypervisor_version": 8_002_000,
            "supported_instances": [["x86_64", "kvm", "hvm"]],
            "vcpus": 64,
            "cpu_allocation_ratio": if self.has_gpus { 1.0 } else { 2.0 },
            "memory_mb": 262_144,
            "local_gb": 4000,
            "traits": ["HW_CPU_X86_AVX2"],
            "labels": {"accelerator": label, "zone": self.zone},
            "devices": devices,
        })
    }
}

/// The host aggregates: one for each zone, of which one packs instead of
/// spreading, and one of hosts with fast disks that are to stay quiet.
pub fn aggregates(hosts: &[Host]) -> Vec<Value> {
    let named = |is_in: &dyn Fn(&Host) -> bool| -> Vec<&str> {
        hosts.iter().filter(|host| is_in(host)).map(|host| host.name.as_str()).collect()
    };
    let mut all: Vec<Value> = ZONES
        .iter()
        .map(|zone| {
            let metadata = if *zone == PACKED {
                json!({"cpu_weight_multiplier": "-1.0", "ram_weight_multiplier": "-1.0",
                    "disk_weight_multiplier": "-1.0"})
            } else {
                json!({})
            };
            json!({
                "name": zone, "availability_zone": zone, "metadata": metadata,
                "hosts": named(&|host| host.zone == *zone),
            })
        })
        .collect();
    all.push(json!({
        "name": "fast-disks",
        "metadata": {"ssd": "true", "io_ops_weight_multiplier": "-3.0"},
        "hosts": named(&|host| host.has_fast_disks),
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_in_one_zone() {
        let hosts = hosts();
        let aggregates = aggregates(&hosts);
        let count = |place: usize| aggregates[place]["hosts"].as_array().map_or(0, Vec::len);
        assert_eq!((hosts.len(), count(0) + count(1) + count(2)), (HOSTS, HOSTS));
        assert_eq!(hosts.iter().filter(|host| host.has_gpus).count(), GPU_HOSTS);
    }
}

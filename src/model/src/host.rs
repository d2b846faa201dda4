//! What a host says of itself: the body of `PUT /v1/hosts/{host}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::host_devices::{Device, NumaCell, PciPool};
use crate::{Inventory, Micros};

/// The full state of one host (and node), as its compute service reports it.
///
/// Names are those of Nova's compute node record wherever it has the field. A
/// figure that is null was not reported: it is then taken from the ledger
/// alone. Host and node themselves are the resource's address, not its body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct HostReport {
    /// Uuid of the compute node, which is its root resource provider's too.
    pub uuid: Uuid,
    /// Cell the host belongs to; null outside Nova.
    pub cell_uuid: Option<Uuid>,
    /// Name of the hypervisor; null means the node's name.
    pub hypervisor_hostname: Option<String>,
    /// IP address, as text.
    pub host_ip: Option<String>,
    /// Such as `QEMU`.
    pub hypervisor_type: Option<String>,
    /// major x 1,000,000 + minor x 1,000 + patch.
    pub hypervisor_version: Option<i64>,
    /// JSON text, as Nova keeps it.
    pub cpu_info: Option<String>,
    /// Triples of architecture, hypervisor type and VM mode.
    pub supported_instances: Option<Vec<Vec<String>>>,
    /// Free-form figures that extra specs may ask for.
    pub stats: Map<String, Value>,
    /// Monitor metrics; null when the host has no monitors.
    pub metrics: Option<Vec<MetricReport>>,
    /// PCI pools; null when the host has no PCI tracking at all.
    pub pci_pools: Option<Vec<PciPool>>,
    /// NUMA cells; null when the topology is unknown.
    pub numa_cells: Option<Vec<NumaCell>>,
    /// How often a CPU may be promised; null means 1.0.
    pub cpu_allocation_ratio: Option<f64>,
    /// How often memory may be promised; null means 1.0.
    pub ram_allocation_ratio: Option<f64>,
    /// How often disk may be promised; null means 1.0.
    pub disk_allocation_ratio: Option<f64>,

    /// CPUs.
    pub vcpus: Option<i64>,
    /// CPUs in use.
    pub vcpus_used: Option<i64>,
    /// Memory in MiB.
    pub memory_mb: Option<i64>,
    /// Memory in use, MiB.
    pub memory_mb_used: Option<i64>,
    /// Memory left, MiB; negative when overcommitted.
    pub free_ram_mb: Option<i64>,
    /// Disk in GiB.
    pub local_gb: Option<i64>,
    /// Disk in use, GiB.
    pub local_gb_used: Option<i64>,
    /// Disk left, GiB.
    pub free_disk_gb: Option<i64>,
    /// Disk left if every image grew to its full size, GiB; may be negative.
    pub disk_available_least: Option<i64>,
    /// Servers on the host.
    pub num_instances: Option<i64>,
    /// Builds, resizes and the like that are going on.
    pub io_workload: Option<i64>,
    /// Builds that failed since the last success.
    pub failed_builds: Option<i64>,
    /// Servers that are running.
    pub running_vms: Option<i64>,
    /// Text of the hypervisor's uptime.
    pub uptime: Option<String>,
    /// Servers by uuid.
    pub instances: BTreeMap<Uuid, InstanceReport>,

    /// Traits to set on the root provider.
    pub traits: Vec<String>,
    /// Labels that batch jobs select by.
    pub labels: BTreeMap<String, String>,
    /// Taints that batch jobs must tolerate.
    pub taints: Vec<Taint>,
    /// Takes no new batch tasks.
    pub unschedulable: bool,
    /// Images the host holds already.
    pub images: Vec<HostImage>,
    /// Batch tasks at most; null means the default of the configuration.
    pub max_tasks: Option<i64>,
    /// Devices for batch tasks.
    pub devices: Vec<Device>,
    /// The service that runs the host.
    pub service: ServiceReport,
    /// Inventory to set on the root provider, by resource class; null leaves
    /// the provider's inventory to whoever owns it.
    pub inventory: Option<BTreeMap<String, Inventory>>,
}

/// One monitor metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MetricReport {
    /// Such as `cpu.percent`.
    pub name: String,
    /// As reported: metrics whose name ends in `.percent` are fractions.
    pub value: f64,
}

/// One server on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct InstanceReport {
    /// Display name.
    pub name: Option<String>,
    /// Properties of the image it was made from, as text.
    pub image_properties: BTreeMap<String, String>,
}

/// A taint, as Kubernetes has them.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema,
)]
pub struct Taint {
    /// Name.
    pub key: String,
    /// Value; empty when the key alone says it.
    #[serde(default)]
    pub value: String,
    /// What it does to tasks that do not tolerate it.
    pub effect: TaintEffect,
}

/// What a taint does to tasks that do not tolerate it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
pub enum TaintEffect {
    /// They are not placed here.
    NoSchedule,
    /// They are placed here only if nothing better is left.
    PreferNoSchedule,
    /// They are not placed here, and those that run are evicted.
    NoExecute,
}

/// An image that a host holds already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HostImage {
    /// Name or id.
    pub name: String,
    /// Size in bytes; null when unknown.
    #[serde(default)]
    pub size_bytes: Option<i64>,
}

/// The service record of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct ServiceReport {
    /// Uuid of the service; null when not known.
    pub uuid: Option<Uuid>,
    /// Such as `nova-compute`; null means that.
    pub binary: Option<String>,
    /// Version of the compute service, 0 when not known.
    pub version: i64,
    /// Takes no new servers.
    pub disabled: bool,
    /// Why.
    pub disabled_reason: Option<String>,
    /// Declared down by an operator.
    pub forced_down: bool,
    /// When it was last heard of.
    pub last_seen_up: Option<Micros>,
    /// When the record was made.
    pub created_at: Option<Micros>,
    /// Availability zone; null means by host aggregate.
    pub zone: Option<String>,
}

impl ServiceReport {
    /// The time its age is counted from: last seen, else made.
    #[must_use]
    pub fn alive_since(&self) -> Option<Micros> {
        self.last_seen_up.or(self.created_at)
    }
}

/// A host aggregate of the operator's: hosts with metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostAggregate {
    /// Integer id, as the compute API shows it.
    pub id: i64,
    /// Name.
    #[serde(default)]
    pub name: String,
    /// Uuid, which is the mirrored Placement aggregate's too.
    #[serde(default)]
    pub uuid: Option<Uuid>,
    /// Metadata, the availability zone among it.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

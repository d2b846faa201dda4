//! Devices and NUMA cells of a host, as compute services report them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::request::NetworkMetadata;

/// PCI devices of one kind in one place: one pool of Nova's PCI statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PciPool {
    /// Four hexadecimal digits.
    pub vendor_id: String,
    /// Four hexadecimal digits.
    pub product_id: String,
    /// NUMA node the devices hang on; null when unknown.
    #[serde(default)]
    pub numa_node: Option<i64>,
    /// Devices that are free.
    pub count: i64,
    /// Everything else the pool carries, flattened as in the peer's form:
    /// `dev_type`, `physical_network`, `rp_uuid` and tags of the operator's own.
    #[serde(flatten)]
    pub tags: BTreeMap<String, Value>,
}

/// One NUMA cell of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct NumaCell {
    /// Number of the cell.
    pub id: i64,
    /// CPUs for shared use.
    pub cpuset: Vec<i64>,
    /// CPUs for dedicated use.
    pub pcpuset: Vec<i64>,
    /// Dedicated CPUs that are taken.
    pub pinned_cpus: Vec<i64>,
    /// Hardware threads of each core.
    pub siblings: Vec<Vec<i64>>,
    /// Memory in MiB.
    pub memory: i64,
    /// Memory in use, MiB.
    pub memory_usage: i64,
    /// Shared CPUs in use.
    pub cpu_usage: i64,
    /// Memory pages by size.
    pub mempages: Vec<MemoryPages>,
    /// Socket; null means the one with the cell's number.
    pub socket: Option<i64>,
    /// Networks whose interfaces hang on this cell; null when the host says
    /// nothing of them.
    pub network_metadata: Option<NetworkMetadata>,
}

impl NumaCell {
    /// The socket it is in.
    #[must_use]
    pub const fn socket(&self) -> i64 {
        match self.socket {
            Some(socket) => socket,
            None => self.id,
        }
    }
}

/// Memory pages of one size in a NUMA cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct MemoryPages {
    /// Size of a page in KiB.
    pub size_kb: i64,
    /// Pages that exist.
    pub total: i64,
    /// Pages in use.
    pub used: i64,
    /// Pages kept back for the host.
    pub reserved: i64,
}

impl MemoryPages {
    /// Pages left: total - used - reserved.
    #[must_use]
    pub const fn free(&self) -> i64 {
        self.total.saturating_sub(self.used).saturating_sub(self.reserved)
    }
}

/// A device that batch tasks may hold, one child provider each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Device {
    /// Name, unique on its host.
    pub name: String,
    /// Its one resource class, such as `PGPU` or `CUSTOM_GPU_MILLI`.
    pub resource_class: String,
    /// Units of that class: 1 for a whole device, 1000 where shares are sold.
    #[serde(default = "one")]
    pub total: i64,
    /// Traits, the model among them.
    #[serde(default)]
    pub traits: Vec<String>,
    /// NUMA node it hangs on; null when unknown.
    #[serde(default)]
    pub numa_node: Option<i64>,
}

const fn one() -> i64 {
    1
}

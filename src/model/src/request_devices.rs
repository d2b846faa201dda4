//! Devices and NUMA cells that a request needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// PCI devices of one kind that a server needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct PciRequest {
    /// Name of the request: mappings of an allocation candidate whose key
    /// begins with it belong to it.
    pub request_id: Option<String>,
    /// Devices.
    pub count: i64,
    /// Alternatives; a pool must carry all pairs of one of them.
    pub spec: Vec<BTreeMap<String, Value>>,
    /// `required`, `legacy`, `preferred` or `socket`; null means legacy.
    pub numa_policy: Option<String>,
}

/// The NUMA topology that a server needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct RequestNuma {
    /// Its cells.
    pub cells: Vec<RequestCell>,
    /// `isolate` or `share`.
    pub emulator_threads_policy: Option<String>,
}

/// One NUMA cell that a server needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct RequestCell {
    /// Number of the cell inside the server.
    pub id: i64,
    /// CPUs of the server that float over shared CPUs.
    pub cpuset: Vec<i64>,
    /// CPUs of the server that are pinned.
    pub pcpuset: Vec<i64>,
    /// Memory in MiB.
    pub memory: i64,
    /// KiB, or -1 smallest, -2 large, -3 any.
    pub pagesize: Option<i64>,
    /// `shared`, `dedicated` or `mixed`.
    pub cpu_policy: Option<String>,
    /// `prefer`, `isolate` or `require`.
    pub cpu_thread_policy: Option<String>,
}

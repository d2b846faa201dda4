//! NUMA topologies as the peer keeps them: versioned objects in JSON.

use serde::Deserialize;
use stowplan_model::host_devices::{MemoryPages, NumaCell};
use stowplan_model::request::NetworkMetadata;

use super::node::{Unreadable, json};

/// A versioned object of which only the fields count: those that are added in
/// minor versions are passed over.
#[derive(Deserialize)]
pub(super) struct Object<T> {
    #[serde(rename = "nova_object.data")]
    pub data: T,
}

#[derive(Deserialize)]
struct Topology {
    cells: Vec<Object<Cell>>,
}

#[derive(Deserialize)]
struct Cell {
    id: i64,
    cpuset: Vec<i64>,
    #[serde(default)]
    pcpuset: Vec<i64>,
    #[serde(default)]
    pinned_cpus: Vec<i64>,
    #[serde(default)]
    siblings: Vec<Vec<i64>>,
    memory: i64,
    #[serde(default)]
    memory_usage: i64,
    #[serde(default)]
    cpu_usage: i64,
    #[serde(default)]
    mempages: Vec<Object<Pages>>,
    #[serde(default)]
    socket: Option<i64>,
    #[serde(default)]
    network_metadata: Option<Object<Network>>,
}

#[derive(Deserialize)]
struct Pages {
    size_kb: i64,
    total: i64,
    #[serde(default)]
    used: i64,
    #[serde(default)]
    reserved: i64,
}

#[derive(Deserialize)]
struct Network {
    #[serde(default)]
    physnets: Vec<String>,
    #[serde(default)]
    tunneled: bool,
}

/// The cells of a node; none where it has no topology.
pub(super) fn cells(text: Option<&str>) -> Result<Option<Vec<NumaCell>>, Unreadable> {
    let expected = "a NUMATopology of version 1";
    let topology: Option<Object<Topology>> = json("numa_topology", text, expected)?;
    Ok(topology.map(|it| it.data.cells.into_iter().map(|cell| cell.data.into()).collect()))
}

/// Sets are written in any order: one that has not changed must look the same.
fn sorted<T: Ord>(mut set: Vec<T>) -> Vec<T> {
    set.sort_unstable();
    set
}

impl From<Cell> for NumaCell {
    fn from(cell: Cell) -> Self {
        let pages = |pages: Object<Pages>| {
            let Pages { size_kb, total, used, reserved } = pages.data;
            MemoryPages { size_kb, total, used, reserved }
        };
        Self {
            id: cell.id,
            cpuset: sorted(cell.cpuset),
            pcpuset: sorted(cell.pcpuset),
            pinned_cpus: sorted(cell.pinned_cpus),
            siblings: cell.siblings.into_iter().map(sorted).collect(),
            memory: cell.memory,
            memory_usage: cell.memory_usage,
            cpu_usage: cell.cpu_usage,
            mempages: cell.mempages.into_iter().map(pages).collect(),
            socket: cell.socket,
            network_metadata: cell.network_metadata.map(|network| NetworkMetadata {
                physnets: sorted(network.data.physnets),
                tunneled: network.data.tunneled,
            }),
        }
    }
}

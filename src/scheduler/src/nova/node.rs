//! A compute node's row as a report of its host, read as the peer's scheduler
//! reads it for its host states.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use stowplan_model::host::{HostReport, InstanceReport, MetricReport, ServiceReport};
use stowplan_model::{Uuid, image_props, pytext};

use super::{numa, pci};
use crate::fields::cut;

/// What a ratio is where the row has none: the peer's `initial_cpu_allocation_ratio`.
const CPU_RATIO: f64 = 4.0;
/// The same of memory and disk.
const OTHER_RATIO: f64 = 1.0;
/// How keys of system metadata begin that hold properties of images.
const IMAGE_PREFIX: &str = "image_";

/// A row of `compute_nodes`; fields have the names of the columns. Texts hold JSON
/// as the peer keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComputeNode {
    /// Uuid of the node, its root provider's too.
    pub uuid: Option<String>,
    /// Name of the node.
    pub hypervisor_hostname: Option<String>,
    /// CPUs.
    pub vcpus: i64,
    /// CPUs in use.
    pub vcpus_used: i64,
    /// Memory in MiB.
    pub memory_mb: i64,
    /// Memory in use, MiB.
    pub memory_mb_used: i64,
    /// Disk in GiB.
    pub local_gb: i64,
    /// Disk in use, GiB.
    pub local_gb_used: i64,
    /// Memory left, MiB.
    pub free_ram_mb: Option<i64>,
    /// Disk left, GiB; a row without it is one that nobody has filled in yet.
    pub free_disk_gb: Option<i64>,
    /// Disk left if all images grew to their full size, GiB.
    pub disk_available_least: Option<i64>,
    /// Servers that run.
    pub running_vms: Option<i64>,
    /// Such as `QEMU`.
    pub hypervisor_type: Option<String>,
    /// major x 1,000,000 + minor x 1,000 + patch.
    pub hypervisor_version: Option<i64>,
    /// IP address.
    pub host_ip: Option<String>,
    /// JSON.
    pub cpu_info: Option<String>,
    /// JSON list of lists.
    pub supported_instances: Option<String>,
    /// JSON list of metrics.
    pub metrics: Option<String>,
    /// JSON of a versioned list of pools.
    pub pci_stats: Option<String>,
    /// JSON object.
    pub stats: Option<String>,
    /// JSON of a versioned object.
    pub numa_topology: Option<String>,
    /// How often a CPU may be promised.
    pub cpu_allocation_ratio: Option<f64>,
    /// How often memory may be promised.
    pub ram_allocation_ratio: Option<f64>,
    /// How often disk may be promised.
    pub disk_allocation_ratio: Option<f64>,
}

/// A column that does not hold what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{column} is {value}: expected {expected}")]
pub struct Unreadable {
    /// The column.
    pub column: &'static str,
    /// What is in it, cut when it is long.
    pub value: String,
    /// What it should hold.
    pub expected: String,
}

impl Unreadable {
    pub(super) fn new(column: &'static str, value: &str, expected: impl ToString) -> Self {
        let value = if value.is_empty() { "empty" } else { value };
        Self { column, value: cut(value).into_owned(), expected: expected.to_string() }
    }
}

/// Reads the JSON of a column; null and an empty text say nothing.
pub(super) fn json<'a, T: Deserialize<'a>>(
    column: &'static str,
    text: Option<&'a str>,
    expected: &str,
) -> Result<Option<T>, Unreadable> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let read: Result<Option<T>, _> = serde_json::from_str(text);
    read.map_err(|error| Unreadable::new(column, text, format!("{expected} ({error})")))
}

/// The report of a node with its servers. Figures of a row that nobody has filled
/// in yet are left out.
///
/// # Errors
/// A column that does not hold what it should.
pub fn report(
    node: &ComputeNode,
    cell: Uuid,
    service: ServiceReport,
    instances: BTreeMap<Uuid, InstanceReport>,
) -> Result<HostReport, Unreadable> {
    let uuid = node.uuid.as_deref().unwrap_or_default();
    let uuid = Uuid::try_parse(uuid).map_err(|_| Unreadable::new("uuid", uuid, "a uuid"))?;
    let known = HostReport {
        uuid,
        cell_uuid: Some(cell),
        hypervisor_hostname: node.hypervisor_hostname.clone(),
        instances,
        service,
        ..HostReport::default()
    };
    if node.free_disk_gb.is_none() {
        return Ok(known);
    }
    let stats = stats(node.stats.as_deref())?;
    let counted = |name| counted(&stats, name);
    Ok(HostReport {
        host_ip: node.host_ip.clone(),
        hypervisor_type: node.hypervisor_type.clone(),
        hypervisor_version: node.hypervisor_version,
        cpu_info: node.cpu_info.clone(),
        supported_instances: Some(supported(node.supported_instances.as_deref())?),
        metrics: Some(metrics(node.metrics.as_deref())?),
        pci_pools: Some(pci::pools(node.pci_stats.as_deref())?),
        numa_cells: numa::cells(node.numa_topology.as_deref())?,
        cpu_allocation_ratio: Some(ratio(node.cpu_allocation_ratio, CPU_RATIO)),
        ram_allocation_ratio: Some(ratio(node.ram_allocation_ratio, OTHER_RATIO)),
        disk_allocation_ratio: Some(ratio(node.disk_allocation_ratio, OTHER_RATIO)),
        vcpus: Some(node.vcpus),
        vcpus_used: Some(node.vcpus_used),
        memory_mb: Some(node.memory_mb),
        memory_mb_used: Some(node.memory_mb_used),
        free_ram_mb: node.free_ram_mb,
        local_gb: Some(node.local_gb),
        local_gb_used: Some(node.local_gb_used),
        free_disk_gb: node.free_disk_gb,
        disk_available_least: node.disk_available_least,
        num_instances: Some(counted("num_instances")?),
        io_workload: Some(counted("io_workload")?),
        failed_builds: Some(counted("failed_builds")?),
        running_vms: node.running_vms,
        stats,
        ..known
    })
}

/// A ratio; none and 0 stand for the initial one.
fn ratio(said: Option<f64>, initial: f64) -> f64 {
    said.filter(|ratio| *ratio != 0.0).unwrap_or(initial)
}

/// Statistics, whose values the peer reads as texts.
fn stats(text: Option<&str>) -> Result<Map<String, Value>, Unreadable> {
    let read: Option<Map<String, Value>> = json("stats", text, "an object")?;
    let as_text = |value: Value| match value {
        Value::Null => Value::Null,
        value => Value::String(pytext::str(&value)),
    };
    Ok(read.unwrap_or_default().into_iter().map(|(name, it)| (name, as_text(it))).collect())
}

/// A statistic that is a whole number, 0 where there is none.
fn counted(stats: &Map<String, Value>, name: &'static str) -> Result<i64, Unreadable> {
    match stats.get(name) {
        None => Ok(0),
        Some(value) => {
            let text = pytext::str(value);
            pytext::int(&text)
                .ok_or_else(|| Unreadable::new("stats", &text, format!("a whole number as {name}")))
        }
    }
}

/// Triples of architecture, hypervisor type and VM mode; a mode may be left out.
fn supported(text: Option<&str>) -> Result<Vec<Vec<String>>, Unreadable> {
    let expected = "lists of architecture, hypervisor type and VM mode";
    let mut lists: Vec<Vec<String>> =
        json("supported_instances", text, expected)?.unwrap_or_default();
    for list in &mut lists {
        list.resize(3, String::new());
    }
    Ok(lists)
}

#[derive(Deserialize)]
struct Metric {
    name: String,
    value: Option<f64>,
}

/// Metrics that are one number: percentages are kept as fractions.
fn metrics(text: Option<&str>) -> Result<Vec<MetricReport>, Unreadable> {
    let read: Vec<Metric> = json("metrics", text, "a list of metrics")?.unwrap_or_default();
    let one = |metric: Metric| Some(MetricReport { value: metric.value?, name: metric.name });
    Ok(read.into_iter().filter_map(one).collect())
}

/// The property of its image that a key of a server's system metadata holds, if
/// scheduling reads it.
#[must_use]
pub fn image_property(key: &str) -> Option<&str> {
    key.strip_prefix(IMAGE_PREFIX).filter(|name| image_props::is_known(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    fn node() -> ComputeNode {
        ComputeNode {
            uuid: Some("11111111-0000-4000-8000-000000000001".to_owned()),
            free_disk_gb: Some(5),
            ..ComputeNode::default()
        }
    }

    fn read(node: &ComputeNode) -> Result<HostReport, String> {
        report(node, Uuid::nil(), ServiceReport::default(), BTreeMap::new())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn columns_that_say_nothing() {
        let report = read(&node()).unwrap();
        assert_eq!(report.supported_instances, Some(vec![]));
        assert_eq!((report.metrics, report.pci_pools), (Some(vec![]), Some(vec![])));
        assert_eq!(report.numa_cells, None);
        assert_eq!((report.num_instances, report.io_workload), (Some(0), Some(0)));
        assert_eq!(report.cpu_allocation_ratio, Some(4.0));
    }

    #[test]
    fn a_row_that_nobody_has_filled_in_has_no_figures() {
        let row = ComputeNode { free_disk_gb: None, vcpus: 8, ..node() };
        let report = read(&row).unwrap();
        assert_eq!(
            (report.vcpus, report.metrics, report.cell_uuid),
            (None, None, Some(Uuid::nil()))
        );
    }

    #[test]
    fn columns_as_the_peer_reads_them() {
        let text = |value: Value| Some(value.to_string());
        let pages = json!({"nova_object.name": "NUMAPagesTopology", "nova_object.data":
            {"size_kb": 4, "total": 100, "used": 1}});
        let network = json!({"nova_object.data": {"physnets": ["b", "a"], "tunneled": true}});
        let cell = json!({"nova_object.name": "NUMACell", "nova_object.version": "1.5",
            "nova_object.data": {"id": 0, "cpuset": [2, 0, 1], "pcpuset": [3], "memory": 64,
                "siblings": [[1, 0], [3, 2]], "mempages": [pages], "pinned_cpus": [],
                "network_metadata": network, "socket": null, "later": 1}});
        let topology = json!({"nova_object.name": "NUMATopology", "nova_object.namespace": "nova",
            "nova_object.version": "1.2", "nova_object.data": {"cells": [cell]}});
        let row = ComputeNode {
            stats: text(json!({"io_workload": 3, "failed_builds": "2", "a": true, "b": null})),
            supported_instances: text(json!([["x86_64", "kvm", "hvm"], ["i686", "kvm"]])),
            metrics: text(
                json!([{"name": "cpu.percent", "value": 0.5, "timestamp": "", "source": ""},
                {"name": "numa.membw.current", "numa_membw_values": {}}]),
            ),
            numa_topology: text(topology),
            cpu_allocation_ratio: Some(0.0),
            ram_allocation_ratio: Some(0.5),
            ..node()
        };
        let report = read(&row).unwrap();
        assert_eq!(
            Value::Object(report.stats),
            json!({"io_workload": "3", "failed_builds": "2", "a": "True", "b": null})
        );
        assert_eq!((report.io_workload, report.failed_builds), (Some(3), Some(2)));
        assert_eq!(report.supported_instances.unwrap()[1], ["i686", "kvm", ""]);
        assert_eq!(report.metrics.unwrap().len(), 1);
        assert_eq!(
            (report.cpu_allocation_ratio, report.ram_allocation_ratio),
            (Some(4.0), Some(0.5))
        );
        let cells = report.numa_cells.unwrap();
        let cell = &cells[0];
        assert_eq!(
            (cell.cpuset.as_slice(), cell.siblings[1].as_slice()),
            (&[0, 1, 2][..], &[2, 3][..])
        );
        assert_eq!((cell.mempages[0].free(), cell.socket), (99, None));
        assert_eq!(cell.network_metadata.as_ref().unwrap().physnets, ["a", "b"]);
    }

    #[test]
    fn pools_in_both_forms() {
        let flat = json!({"vendor_id": "8086", "product_id": "1", "count": 2, "numa_node": null,
            "physical_network": "p"});
        let versioned = json!({"nova_object.namespace": "nova", "nova_object.data": {"objects": [
            {"nova_object.data": {"vendor_id": "8086", "product_id": "1", "count": 2,
                "numa_node": null, "tags": {"physical_network": "p"}}}]}});
        for kept in [json!([flat]), flat, versioned] {
            let row = ComputeNode { pci_stats: Some(kept.to_string()), ..node() };
            let pools = read(&row).unwrap().pci_pools.unwrap();
            assert_eq!(
                (pools[0].count, &pools[0].tags["physical_network"]),
                (2, &json!("p")),
                "{kept}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let with = |set: fn(&mut ComputeNode)| {
            let mut row = node();
            set(&mut row);
            read(&row).unwrap_err()
        };
        for (error, expected) in [
            (with(|row| row.uuid = None), "uuid is empty: expected a uuid"),
            (with(|row| row.uuid = Some("x".into())), "uuid is x: expected a uuid"),
            (with(|row| row.stats = Some("[]".into())), "stats is []: expected an object"),
            (
                with(|row| row.stats = Some(r#"{"io_workload": "x"}"#.into())),
                "stats is x: expected a whole number as io_workload",
            ),
            (
                with(|row| row.metrics = Some("{}".into())),
                "metrics is {}: expected a list of metrics",
            ),
            (
                with(|row| row.pci_stats = Some("5".into())),
                "pci_stats is 5: expected a PciDevicePoolList",
            ),
            (
                with(|row| row.numa_topology = Some(r#"{"cells": []}"#.into())),
                r#"numa_topology is {"cells": []}: expected a NUMATopology of version 1"#,
            ),
        ] {
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn properties_of_images() {
        assert_eq!(image_property("image_hw_machine_type"), Some("hw_machine_type"));
        assert_eq!(image_property("image_architecture"), Some("architecture"));
        for key in ["hw_machine_type", "image_base_image_ref", "image_my_own", "image_"] {
            assert_eq!(image_property(key), None, "{key}");
        }
    }
}

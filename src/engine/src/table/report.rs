//! From a host's report to its row in the table.

use stowplan_model::host::{HostReport, ServiceReport};

use super::{
    Figure, Figures, HostFacts, HostNuma, HostRow, Metric, PciPools, ServiceFacts, StateFlags,
};

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

impl HostRow {
    /// The row of host `host` and node `node` as reported. `bus_only`: known
    /// from the message bus alone, where nobody sends heartbeats.
    ///
    /// A record without `free_disk_gb` is one that the compute service has not
    /// filled in yet: as at the peer its figures stay 0 then. Figures that were
    /// not reported are 0; the ledger puts in what it knows of allocations.
    #[must_use]
    pub fn from_report(host: &str, node: &str, report: &HostReport, bus_only: bool) -> Self {
        Self {
            facts: facts(host, node, report),
            figures: figures(report, bus_only),
            ratios: [
                report.cpu_allocation_ratio.unwrap_or(1.0),
                report.ram_allocation_ratio.unwrap_or(1.0),
                report.disk_allocation_ratio.unwrap_or(1.0),
            ],
            guests: report.supported_instances.clone().unwrap_or_default(),
            cpu_info: report.cpu_info.clone(),
            instances: report
                .instances
                .iter()
                .map(|(uuid, instance)| (*uuid, instance.image_properties.clone()))
                .collect(),
            pci_pools: report.pci_pools.clone().map(PciPools::new),
            numa: report.numa_cells.clone().map(|cells| HostNuma { cells }),
        }
    }
}

fn facts(host: &str, node: &str, report: &HostReport) -> HostFacts {
    let service = &report.service;
    HostFacts {
        host: host.to_owned(),
        node: node.to_owned(),
        uuid: report.uuid,
        cell_uuid: report.cell_uuid,
        hypervisor_hostname: report.hypervisor_hostname.clone().or_else(|| Some(node.to_owned())),
        host_ip: report.host_ip.clone(),
        hypervisor_type: report.hypervisor_type.clone(),
        hypervisor_version: report.hypervisor_version,
        stats: report.stats.clone(),
        metrics: report.metrics.as_ref().map(|metrics| metrics.iter().map(Metric::from).collect()),
        traits: report.traits.clone(),
        labels: report.labels.clone(),
        taints: report.taints.clone(),
        images: report.images.clone(),
        devices: report.devices.clone(),
        running_vms: report.running_vms,
        uptime: report.uptime.clone(),
        service: ServiceFacts {
            uuid: service.uuid,
            binary: service.binary.clone(),
            version: service.version,
            disabled_reason: service.disabled_reason.clone(),
            created_at: service.created_at,
            zone: service.zone.clone(),
        },
    }
}

fn figures(report: &HostReport, bus_only: bool) -> Figures {
    let figures = Figures::default()
        .with(Figure::StateFlags, state_flags(&report.service, report.unschedulable, bus_only))
        .with(Figure::AliveSince, report.service.alive_since().map_or(i64::MIN, |at| at.0))
        .with(Figure::MaxTasks, report.max_tasks.unwrap_or(-1))
        .with(Figure::HypervisorVersion, report.hypervisor_version.unwrap_or(0));
    let Some(free_disk_gb) = report.free_disk_gb else {
        return figures;
    };
    let free_disk_gb =
        report.disk_available_least.map_or(free_disk_gb, |least| least.min(free_disk_gb));
    let stat = |name: &str| report.stats.get(name).and_then(number).unwrap_or(0);
    figures
        .with(Figure::FreeRamMb, report.free_ram_mb.unwrap_or(0))
        .with(Figure::TotalUsableRamMb, report.memory_mb.unwrap_or(0))
        .with(Figure::FreeDiskMb, mb(free_disk_gb))
        .with(Figure::DiskMbUsed, mb(report.local_gb_used.unwrap_or(0)))
        .with(Figure::TotalUsableDiskGb, report.local_gb.unwrap_or(0))
        .with(Figure::VcpusTotal, report.vcpus.unwrap_or(0))
        .with(Figure::VcpusUsed, report.vcpus_used.unwrap_or(0))
        .with(Figure::NumInstances, report.num_instances.unwrap_or_else(|| stat("num_instances")))
        .with(Figure::NumIoOps, report.io_workload.unwrap_or_else(|| stat("io_workload")))
        .with(Figure::FailedBuilds, report.failed_builds.unwrap_or_else(|| stat("failed_builds")))
}

/// GiB in MiB; what is beyond all bounds stays at the bound.
const fn mb(gb: i64) -> i64 {
    gb.saturating_mul(MB_PER_GB)
}

/// The [`StateFlags`] of a service.
fn state_flags(service: &ServiceReport, unschedulable: bool, bus_only: bool) -> i64 {
    [
        (service.disabled, StateFlags::DISABLED),
        (service.forced_down, StateFlags::FORCED_DOWN),
        (bus_only, StateFlags::BUS_ONLY),
        (unschedulable, StateFlags::UNSCHEDULABLE),
    ]
    .into_iter()
    .filter_map(|(set, bit)| set.then_some(bit))
    .sum()
}

/// A whole number, or one as text.
fn number(value: &serde_json::Value) -> Option<i64> {
    match value {
        serde_json::Value::String(text) => stowplan_model::pytext::int(text),
        other => other.as_i64().or(other.as_f64().map(|f| f as i64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_is_the_lesser_of_free_and_least() {
        let mut report = HostReport {
            free_disk_gb: Some(10),
            disk_available_least: Some(-3),
            ..HostReport::default()
        };
        report.stats.insert("num_instances".to_owned(), serde_json::json!("3"));
        let row = HostRow::from_report("h", "n", &report, false);
        assert_eq!(row.figures.get(Figure::FreeDiskMb), -3072);
        assert_eq!(row.figures.get(Figure::NumInstances), 3);
        report.disk_available_least = None;
        let row = HostRow::from_report("h", "n", &report, false);
        assert_eq!(row.figures.get(Figure::FreeDiskMb), 10_240);
    }

    #[test]
    fn a_record_not_filled_in_yet_has_no_figures() {
        let report = HostReport { vcpus: Some(8), ..HostReport::default() };
        let row = HostRow::from_report("h", "n", &report, true);
        assert_eq!(row.figures.get(Figure::VcpusTotal), 0);
        assert_eq!(row.figures.get(Figure::StateFlags), StateFlags::BUS_ONLY);
    }
}

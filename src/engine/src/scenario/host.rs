//! A host of a scenario: attributes by the names of Nova's host state.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stowplan_model::host::{HostAggregate, MetricReport};
use stowplan_model::host_devices::{NumaCell, PciPool};
use stowplan_model::{Micros, Uuid, pytext};

use super::service::Service;
use crate::offers::Mappings;
use crate::table::{
    Figure, Figures, HostFacts, HostIx, HostNuma, HostRow, InstanceProps, Metric, PciPools, PoolId,
    Ratio,
};
use crate::view::HostView;

/// A host of a scenario. A figure that is missing is 0, a ratio 1.0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScenarioHost {
    /// Name of the host.
    pub host: String,
    /// Name of its node.
    pub node: String,
    uuid: Option<Uuid>,
    #[serde(default = "first_cell")]
    cell_uuid: Option<Uuid>,
    #[serde(default)]
    free_ram_mb: i64,
    #[serde(default)]
    total_usable_ram_mb: i64,
    #[serde(default)]
    free_disk_mb: i64,
    #[serde(default)]
    total_usable_disk_gb: i64,
    #[serde(default)]
    disk_mb_used: i64,
    #[serde(default)]
    vcpus_total: i64,
    #[serde(default)]
    vcpus_used: i64,
    #[serde(default)]
    num_io_ops: i64,
    #[serde(default)]
    num_instances: i64,
    #[serde(default)]
    failed_builds: i64,
    #[serde(default = "once")]
    cpu_allocation_ratio: f64,
    #[serde(default = "once")]
    ram_allocation_ratio: f64,
    #[serde(default = "once")]
    disk_allocation_ratio: f64,
    /// Values as host state has them: percentages from 0 to 100.
    #[serde(default = "no_metrics")]
    metrics: Option<Vec<MetricReport>>,
    #[serde(default)]
    stats: Map<String, Value>,
    hypervisor_type: Option<String>,
    hypervisor_version: Option<i64>,
    hypervisor_hostname: Option<String>,
    host_ip: Option<String>,
    cpu_info: Option<String>,
    supported_instances: Option<Vec<Vec<String>>>,
    pci_pools: Option<Vec<PciPool>>,
    numa_cells: Option<Vec<NumaCell>>,
    #[serde(default)]
    service: Service,
    #[serde(default)]
    instances: BTreeMap<Uuid, Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aggregates: Vec<HostAggregate>,
    /// Allocation candidates; absent means one with an empty mapping, an
    /// empty list means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Candidate>>,
}

/// One allocation candidate of a host, as far as filters look at it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Candidate {
    /// Providers chosen for each request group, by its suffix.
    pub mappings: Mappings,
}

const fn once() -> f64 {
    1.0
}

const fn first_cell() -> Option<Uuid> {
    Some(Uuid::from_u128(0x1111_1111_1111_4111_8111_1111_1111_1111))
}

const fn no_metrics() -> Option<Vec<MetricReport>> {
    Some(Vec::new())
}

impl ScenarioHost {
    /// A host as filters and weighers see it now, without its host aggregates:
    /// put into a table with the same present it is the same to them.
    #[must_use]
    pub fn of(view: &dyn HostView, host: HostIx, now: Micros) -> Self {
        let facts = view.facts(host);
        let figure = |figure| view.figure(figure, host);
        let metric = |metric: &Metric| MetricReport {
            name: metric.name.clone(),
            value: metric.value as f64,
        };
        let props = |(uuid, id): &(Uuid, PoolId)| {
            let props = view.props().get(*id).map(|props| InstanceProps::clone(props));
            let props = props.unwrap_or_default().into_iter();
            (*uuid, props.map(|(name, value)| (name, Value::String(value))).collect())
        };
        Self {
            host: facts.host.clone(),
            node: facts.node.clone(),
            uuid: Some(facts.uuid),
            cell_uuid: facts.cell_uuid,
            free_ram_mb: figure(Figure::FreeRamMb),
            total_usable_ram_mb: figure(Figure::TotalUsableRamMb),
            free_disk_mb: figure(Figure::FreeDiskMb),
            total_usable_disk_gb: figure(Figure::TotalUsableDiskGb),
            disk_mb_used: figure(Figure::DiskMbUsed),
            vcpus_total: figure(Figure::VcpusTotal),
            vcpus_used: figure(Figure::VcpusUsed),
            num_io_ops: figure(Figure::NumIoOps),
            num_instances: figure(Figure::NumInstances),
            failed_builds: figure(Figure::FailedBuilds),
            cpu_allocation_ratio: view.ratio(Ratio::Cpu, host),
            ram_allocation_ratio: view.ratio(Ratio::Ram, host),
            disk_allocation_ratio: view.ratio(Ratio::Disk, host),
            metrics: facts.metrics.as_ref().map(|metrics| metrics.iter().map(metric).collect()),
            stats: facts.stats.clone(),
            hypervisor_type: facts.hypervisor_type.clone(),
            hypervisor_version: facts.hypervisor_version,
            hypervisor_hostname: facts.hypervisor_hostname.clone(),
            host_ip: facts.host_ip.clone(),
            cpu_info: view.cpu_info(host).and_then(|info| info.text()).map(str::to_owned),
            supported_instances: view.guests_of(host).cloned(),
            pci_pools: view.pci_pools(host).map(|pools| pools.pools().to_vec()),
            numa_cells: view.numa(host).map(|numa| numa.cells.clone()),
            service: Service::of(view, host, now),
            instances: view.instances(host).as_slice().iter().map(props).collect(),
            aggregates: Vec::new(),
            candidates: None,
        }
    }

    /// `host/node`, by which expectations name it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.node)
    }

    /// The version of its service.
    #[must_use]
    pub fn service_version(&self) -> i64 {
        self.service.version()
    }

    /// Its host aggregates.
    #[must_use]
    pub fn aggregates(&self) -> Vec<Arc<HostAggregate>> {
        self.aggregates.iter().cloned().map(Arc::new).collect()
    }

    /// Its row in the table.
    #[must_use]
    pub fn row(&self, now: Micros) -> HostRow {
        HostRow {
            facts: self.facts(),
            figures: self.figures(now),
            ratios: [
                self.cpu_allocation_ratio,
                self.ram_allocation_ratio,
                self.disk_allocation_ratio,
            ],
            guests: self.supported_instances.clone().unwrap_or_default(),
            cpu_info: self.cpu_info.clone(),
            instances: self
                .instances
                .iter()
                .map(|(uuid, props)| {
                    let props = props.iter().map(|(k, v)| (k.clone(), pytext::str(v)));
                    (*uuid, props.collect())
                })
                .collect(),
            pci_pools: self.pci_pools.clone().map(PciPools::new),
            numa: self.numa_cells.clone().map(|cells| HostNuma { cells }),
        }
    }

    fn facts(&self) -> HostFacts {
        let uuid =
            self.uuid.unwrap_or_else(|| Uuid::new_v5(&Uuid::NAMESPACE_DNS, self.name().as_bytes()));
        HostFacts {
            host: self.host.clone(),
            node: self.node.clone(),
            uuid,
            cell_uuid: self.cell_uuid,
            hypervisor_hostname: self.hypervisor_hostname.clone(),
            host_ip: self.host_ip.clone(),
            hypervisor_type: self.hypervisor_type.clone(),
            hypervisor_version: self.hypervisor_version,
            stats: self.stats.clone(),
            metrics: self.metrics.as_ref().map(|metrics| {
                let metrics = metrics
                    .iter()
                    .map(|metric| Metric { name: metric.name.clone(), value: metric.value as i64 });
                metrics.collect()
            }),
            service: self.service.facts(),
            ..HostFacts::default()
        }
    }

    fn figures(&self, now: Micros) -> Figures {
        Figures::default()
            .with(Figure::FreeRamMb, self.free_ram_mb)
            .with(Figure::TotalUsableRamMb, self.total_usable_ram_mb)
            .with(Figure::FreeDiskMb, self.free_disk_mb)
            .with(Figure::DiskMbUsed, self.disk_mb_used)
            .with(Figure::TotalUsableDiskGb, self.total_usable_disk_gb)
            .with(Figure::VcpusTotal, self.vcpus_total)
            .with(Figure::VcpusUsed, self.vcpus_used)
            .with(Figure::NumInstances, self.num_instances)
            .with(Figure::NumIoOps, self.num_io_ops)
            .with(Figure::FailedBuilds, self.failed_builds)
            .with(Figure::HypervisorVersion, self.hypervisor_version.unwrap_or(0))
            .with(Figure::StateFlags, self.service.flags())
            .with(Figure::AliveSince, self.service.alive_since(now))
    }
}

//! A host of a scenario: attributes by the names of Nova's host state.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use stowplan_model::host::{HostAggregate, MetricReport};
use stowplan_model::host_devices::{NumaCell, PciPool};
use stowplan_model::{Micros, Uuid, pytext};

use crate::offers::Mappings;
use crate::table::{
    Figure, Figures, HostFacts, HostNuma, HostRow, Metric, PciPools, ServiceFacts, StateFlags,
};

/// A host of a scenario. A figure that is missing is 0, a ratio 1.0.
#[derive(Clone, Debug, Deserialize)]
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
    service: ScenarioService,
    #[serde(default)]
    instances: BTreeMap<Uuid, Map<String, Value>>,
    #[serde(default)]
    aggregates: Vec<HostAggregate>,
    /// Allocation candidates; absent means one with an empty mapping, an
    /// empty list means none.
    pub candidates: Option<Vec<Candidate>>,
}

/// One allocation candidate of a host, as far as filters look at it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Candidate {
    /// Providers chosen for each request group, by its suffix.
    pub mappings: Mappings,
}

/// The service of a host, its times counted back from the present.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
struct ScenarioService {
    disabled: bool,
    disabled_reason: Option<String>,
    forced_down: bool,
    /// Seconds; null means never.
    seen_s_ago: Option<i64>,
    /// Seconds.
    created_s_ago: Option<i64>,
}

impl Default for ScenarioService {
    /// Up, and seen five seconds ago.
    fn default() -> Self {
        Self {
            disabled: false,
            disabled_reason: None,
            forced_down: false,
            seen_s_ago: Some(5),
            created_s_ago: None,
        }
    }
}

impl ScenarioService {
    fn flags(&self) -> i64 {
        let disabled = if self.disabled { StateFlags::DISABLED } else { 0 };
        let down = if self.forced_down { StateFlags::FORCED_DOWN } else { 0 };
        disabled | down
    }

    fn alive_since(&self, now: Micros) -> i64 {
        let seconds = self.seen_s_ago.or(self.created_s_ago);
        seconds.map_or(i64::MIN, |s| now.0.saturating_sub(s.saturating_mul(Micros::PER_SECOND)))
    }
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
    /// `host/node`, by which expectations name it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.node)
    }

    /// Its host aggregates.
    pub(super) fn aggregates(&self) -> Vec<Arc<HostAggregate>> {
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
            service: ServiceFacts {
                disabled_reason: self.service.disabled_reason.clone(),
                ..ServiceFacts::default()
            },
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

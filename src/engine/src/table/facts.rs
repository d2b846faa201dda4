//! What of a host does not change inside a request.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use stowplan_model::host::{HostAggregate, HostImage, MetricReport, Taint};
use stowplan_model::host_devices::{Device, NumaCell, PciPool};
use stowplan_model::{Micros, Uuid, pytext};

/// Names, texts and lists of a host. Shared behind an `Arc`, replaced whole by
/// the host's next report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostFacts {
    /// Name of the host.
    pub host: String,
    /// Name of the node; one service may have several.
    pub node: String,
    /// Uuid of the compute node and of its root resource provider.
    pub uuid: Uuid,
    /// Cell it belongs to; null outside Nova.
    pub cell_uuid: Option<Uuid>,
    /// Name of the hypervisor.
    pub hypervisor_hostname: Option<String>,
    /// IP address, as text.
    pub host_ip: Option<String>,
    /// Such as `QEMU`.
    pub hypervisor_type: Option<String>,
    /// The version as reported; null when it was not (the figure is then 0).
    pub hypervisor_version: Option<i64>,
    /// Free-form figures that extra specs may ask for.
    pub stats: Map<String, Value>,
    /// Monitor metrics, percentages as 0 to 100; null without monitors.
    pub metrics: Option<Vec<Metric>>,
    /// Traits named by its report.
    pub traits: Vec<String>,
    /// Labels that batch jobs select by.
    pub labels: BTreeMap<String, String>,
    /// Taints that batch jobs must tolerate.
    pub taints: Vec<Taint>,
    /// Images the host holds already.
    pub images: Vec<HostImage>,
    /// Devices for batch tasks.
    pub devices: Vec<Device>,
    /// Servers that are running; null when not reported.
    pub running_vms: Option<i64>,
    /// Text of the hypervisor's uptime.
    pub uptime: Option<String>,
    /// The service's record; when it was last seen is a figure.
    pub service: ServiceFacts,
}

/// The service record of a host, without what a heartbeat moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceFacts {
    /// Uuid of the service.
    pub uuid: Option<Uuid>,
    /// Such as `nova-compute`.
    pub binary: Option<String>,
    /// Version of the compute service, 0 when not known.
    pub version: i64,
    /// Why it is disabled.
    pub disabled_reason: Option<String>,
    /// When the record was made.
    pub created_at: Option<Micros>,
    /// Availability zone of its own, rather than by host aggregate.
    pub zone: Option<String>,
}

/// One monitor metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Such as `cpu.percent`.
    pub name: String,
    /// Its value; fractions of percent metrics x 100, rest cut off.
    pub value: i64,
}

impl From<&MetricReport> for Metric {
    fn from(report: &MetricReport) -> Self {
        let percent = report.name.ends_with(".percent");
        let value = if percent { report.value * 100.0 } else { report.value };
        Self { name: report.name.clone(), value: value as i64 }
    }
}

/// The PCI pools of a host, those with few keys first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PciPools(Vec<PciPool>);

impl PciPools {
    /// Orders pools by their number of keys, otherwise as given.
    #[must_use]
    pub fn new(mut pools: Vec<PciPool>) -> Self {
        pools.sort_by_key(|pool| pool.tags.len());
        Self(pools)
    }

    /// The pools in order.
    #[must_use]
    pub fn pools(&self) -> &[PciPool] {
        &self.0
    }

    /// Free devices in all pools together.
    #[must_use]
    pub fn devices(&self) -> i64 {
        self.0.iter().fold(0_i64, |sum, pool| sum.saturating_add(pool.count))
    }
}

/// The NUMA cells of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNuma {
    /// The cells in the order reported.
    pub cells: Vec<NumaCell>,
}

/// The CPU description of a host: the text and what it says.
#[derive(Clone, Debug, Default)]
pub struct CpuInfo {
    text: Option<String>,
    json: Option<Value>,
}

impl CpuInfo {
    /// Reads the text once, so that no request has to.
    #[must_use]
    pub fn new(text: Option<String>) -> Self {
        let json = text.as_deref().and_then(|t| serde_json::from_str(t).ok());
        Self { text, json }
    }

    /// The text as reported.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// What the text says; `None` when it is not JSON.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        self.json.as_ref()
    }
}

impl PartialEq for CpuInfo {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for CpuInfo {}

impl std::hash::Hash for CpuInfo {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// What guests a host can run: triples of architecture, hypervisor type and
/// VM mode.
pub type GuestSupport = Vec<Vec<String>>;

/// The host aggregates of a host by id, shared with all hosts that are in the
/// same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AggregateSet(Vec<std::sync::Arc<HostAggregate>>);

impl AggregateSet {
    /// Orders aggregates by id.
    #[must_use]
    pub fn new(mut aggregates: Vec<std::sync::Arc<HostAggregate>>) -> Self {
        aggregates.sort_by_key(|aggregate| aggregate.id);
        Self(aggregates)
    }

    /// The aggregates by id.
    pub fn iter(&self) -> impl Iterator<Item = &HostAggregate> {
        self.0.iter().map(std::convert::AsRef::as_ref)
    }

    /// The raw values of one metadata key, with their aggregates.
    pub fn values<'a>(
        &'a self,
        key: &'a str,
    ) -> impl Iterator<Item = (&'a HostAggregate, &'a str)> {
        self.iter().filter_map(move |a| a.metadata.get(key).map(|value| (a, value.as_str())))
    }

    /// The parts between commas of all values of one metadata key, without
    /// blanks around; an empty value is one empty part.
    #[must_use]
    pub fn merged_values<'a>(&'a self, key: &'a str) -> BTreeSet<&'a str> {
        self.values(key).flat_map(|(_, value)| value.split(',').map(pytext::strip)).collect()
    }

    /// Every metadata key with the parts of its values.
    #[must_use]
    pub fn merged(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut merged: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (key, value) in self.iter().flat_map(|aggregate| &aggregate.metadata) {
            let parts = value.split(',').map(pytext::strip);
            merged.entry(key.as_str()).or_default().extend(parts);
        }
        merged
    }
}

//! The world as the engine's filters and scores see it.

use super::World;
use crate::amounts::{Amounts, Dims};
use stowplan_engine::table::{
    AggregateSet, Blocks, Class, Column, CpuInfo, Figure, GuestSupport, HostFacts, HostNuma,
    InstanceProps, InstanceSet, PciPools, Pool, PoolId, Ratio,
};
use stowplan_engine::{HostIx, HostSet, HostView};
use stowplan_model::Uuid;

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

/// How the engine's figures change when a task takes a request: as the ledger
/// changes them once it is committed.
pub(super) fn figures(
    dims: &Dims,
    request: &Amounts,
) -> impl Iterator<Item = (Figure, i64)> + use<> {
    let (mut vcpus, mut memory_mb, mut disk_mb) = (0, 0, 0);
    for (dim, value) in request.positive() {
        match dims.class(dim) {
            Some("VCPU" | "PCPU") => vcpus += value,
            Some("MEMORY_MB") => memory_mb += value,
            Some("DISK_GB") => disk_mb += value * MB_PER_GB,
            _ => {}
        }
    }
    [
        (Figure::VcpusUsed, vcpus),
        (Figure::FreeRamMb, -memory_mb),
        (Figure::FreeDiskMb, -disk_mb),
        (Figure::NumInstances, 1),
    ]
    .into_iter()
}

impl HostView for World {
    fn slots(&self) -> usize {
        self.table.slots()
    }

    fn live(&self) -> &HostSet {
        self.table.live()
    }

    fn column(&self, figure: Figure) -> &Column {
        self.table.column(figure)
    }

    fn ratios(&self, ratio: Ratio) -> &Blocks<f64> {
        self.table.ratios(ratio)
    }

    fn classes(&self, class: Class) -> &Blocks<PoolId> {
        self.table.classes(class)
    }

    fn facts(&self, host: HostIx) -> &HostFacts {
        self.table.facts(host)
    }

    fn instances(&self, host: HostIx) -> &InstanceSet {
        self.table.instances(host)
    }

    fn props(&self) -> &Pool<InstanceProps> {
        self.table.props()
    }

    fn pci_pools(&self, host: HostIx) -> Option<&PciPools> {
        self.table.pci_pools(host)
    }

    fn pci_devices(&self) -> &Column {
        self.table.pci_devices()
    }

    fn numa(&self, host: HostIx) -> Option<&HostNuma> {
        self.table.numa(host)
    }

    fn aggregate_sets(&self) -> &Pool<AggregateSet> {
        self.table.aggregate_sets()
    }

    fn guests(&self) -> &Pool<GuestSupport> {
        self.table.guests()
    }

    fn cpu_infos(&self) -> &Pool<CpuInfo> {
        self.table.cpu_infos()
    }

    fn hosts_with(&self, instance: Uuid) -> &[HostIx] {
        self.table.hosts_with(instance)
    }

    fn hosts_named(&self, name: &str) -> &[HostIx] {
        self.table.hosts_named(name)
    }

    fn host_of_node(&self, uuid: Uuid) -> Option<HostIx> {
        self.table.host_of_node(uuid)
    }
}

//! What a placed server takes from its host, until the host reports again.

use std::sync::Arc;

use crate::config::EngineConfig;
use crate::finding::Finding;
use crate::numa::{self, Fit, HostSide, NumaNeeds, Terms};
use crate::offers::{Kept, Mappings};
use crate::pci::{self, Near, PciNeeds};
use crate::request::CheckedRequest;
use crate::table::{Figure, HostIx, HostTable, InstanceProps, PciPools, Undo};
use crate::view::HostView;

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

/// What a server claims of its host beyond its flavor's amounts.
#[derive(Clone, Copy, Debug)]
pub struct Claimed<'a> {
    /// The providers that its allocation candidate chose for request groups.
    pub mappings: &'a Mappings,
    /// Shared CPUs and memory of its NUMA cells stay within the host's ratios,
    /// because a filter saw to that ([`Kept::numa_limits`]).
    pub numa_limits: bool,
}

impl<'a> Claimed<'a> {
    /// A claim by a candidate, after what filters kept of the host.
    #[must_use]
    pub fn of(mappings: &'a Mappings, kept: Option<&Kept>) -> Self {
        Self { mappings, numa_limits: kept.is_some_and(|kept| kept.numa_limits) }
    }
}

impl Claimed<'static> {
    /// A claim without request groups.
    pub const PLAIN: Self = {
        static NONE: Mappings = Mappings::new();
        Self { mappings: &NONE, numa_limits: false }
    };
}

/// Takes the flavor's amounts from a host, as Nova's scheduler does between
/// the servers of one request: memory, root and ephemeral disk (swap and
/// booting from a volume are not considered), CPUs, one server, one IO
/// operation; then the NUMA cells and PCI devices of the request. A server
/// group notes the host and the server. Cells or devices that cannot be taken
/// are told and left alone.
pub fn consume(
    table: &mut HostTable,
    undo: &mut Undo,
    request: &mut CheckedRequest,
    host: HostIx,
    config: &EngineConfig,
    claimed: Claimed<'_>,
) -> Vec<Finding> {
    let flavor = &request.request().flavor;
    let disk_mb = flavor.root_gb.saturating_add(flavor.ephemeral_gb).saturating_mul(MB_PER_GB);
    for (figure, change) in [
        (Figure::FreeRamMb, flavor.memory_mb.saturating_neg()),
        (Figure::FreeDiskMb, disk_mb.saturating_neg()),
        (Figure::VcpusUsed, flavor.vcpus),
        (Figure::NumInstances, 1),
        (Figure::NumIoOps, 1),
    ] {
        undo.add(table, host, figure, change);
    }
    let findings = take_places(table, undo, request, host, config, claimed);
    if request.request().instance_group.is_some() {
        let instance = request.request().instance_uuid;
        if !table.instances(host).contains(instance) {
            undo.add_instance(table, host, instance, InstanceProps::default());
        }
        request.group_takes(&table.facts(host).host);
    }
    findings
}

/// Takes NUMA cells and PCI devices.
fn take_places(
    table: &mut HostTable,
    undo: &mut Undo,
    request: &CheckedRequest,
    host: HostIx,
    config: &EngineConfig,
    claimed: Claimed<'_>,
) -> Vec<Finding> {
    let request = request.request();
    let requests = request.pci_requests.as_deref().unwrap_or_default();
    let topology = request.numa_topology.as_ref().filter(|numa| !numa.cells.is_empty());
    if requests.is_empty() && topology.is_none() {
        return Vec::new();
    }
    let mut taking = Taking { host: table.facts(host).host.clone(), findings: Vec::new() };
    let Some(pci) = taking.read(PciNeeds::read(requests)) else {
        return taking.findings;
    };
    let mut cells = Vec::new();
    if let Some(needs) = topology.and_then(|numa| taking.read(NumaNeeds::read(numa)))
        && let Some(side) = HostSide::of(table, host, claimed.numa_limits)
    {
        let network = request.network_metadata.as_ref().filter(|_| claimed.numa_limits);
        let terms = Terms { needs: &needs, pci: &pci, network, pack: config.pack_numa_cells };
        let fit = side.search(terms).fit(claimed.mappings);
        if let Some(fit) = taking.read(fit) {
            cells = take_cells(table, undo, host, &needs, &fit);
        }
    }
    if !pci.is_empty() && table.pci_pools(host).is_some() {
        let left = devices_left(table, host, &pci, claimed.mappings, &cells);
        if let Some(left) = taking.read(left) {
            undo.set_pci(table, host, Some(Arc::new(left)));
        }
    }
    taking.findings
}

/// Takes a host's NUMA cells; the numbers of those taken.
fn take_cells(
    table: &mut HostTable,
    undo: &mut Undo,
    host: HostIx,
    needs: &NumaNeeds,
    fit: &Fit,
) -> Vec<i64> {
    let Some(numa) = table.numa(host) else {
        return Vec::new();
    };
    let numbers = fit.cells.iter().filter_map(|place| numa.cells.get(*place));
    let numbers = numbers.map(|cell| cell.id).collect();
    let left = numa::after(numa, needs, fit);
    undo.set_numa(table, host, Some(Arc::new(left)));
    numbers
}

fn devices_left(
    table: &HostTable,
    host: HostIx,
    needs: &PciNeeds,
    mappings: &Mappings,
    cells: &[i64],
) -> Result<PciPools, pci::Shortage> {
    let near = table.numa(host).map(|numa| Near { cells, host: &numa.cells });
    let none = PciPools::default();
    let pools = table.pci_pools(host).unwrap_or(&none);
    pci::left_after(pools, needs, mappings, near)
}

/// What could not be taken of a host.
struct Taking {
    host: String,
    findings: Vec<Finding>,
}

impl Taking {
    /// The value, or a finding that says why there is none.
    fn read<T, E: std::fmt::Display>(&mut self, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                let (host, what) = (self.host.clone(), error.to_string());
                self.findings.push(Finding::NotConsumed { host, what });
                None
            }
        }
    }
}

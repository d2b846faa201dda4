//! The inventory of a host's root provider: who writes it, and what a report
//! makes of it.

use stowplan_ledger::Image;
use stowplan_ledger::image::{hosts::Host, providers::At};
use stowplan_ledger::rows::{HostSource, Inventories, InventoryOwner};
use stowplan_model::Inventory;
use stowplan_model::host::HostReport;
use stowplan_placement::names::inventories;

use crate::error::SchedulerError;

/// What becomes of the root's inventory.
pub(super) struct Outcome {
    pub owner: InventoryOwner,
    /// The inventory to set; none leaves it as it is.
    pub set: Option<Inventories>,
}

/// Decides by the rule of the two writers: an inventory that clients of the
/// Placement API made is theirs, and a report that names one is refused unless
/// it takes it over.
///
/// Where the report owns the inventory and names none, VCPU, MEMORY_MB and
/// DISK_GB follow its `vcpus`, `memory_mb` and `local_gb` for as long as
/// nobody else has changed them.
pub(super) fn decide(
    image: &Image,
    root: Option<At>,
    before: Option<&Host>,
    report: &HostReport,
    source: HostSource,
    take_over: bool,
    node: &str,
) -> Result<Outcome, SchedulerError> {
    let there = root.map(|at| inventories(image, at)).unwrap_or_default();
    // What is there if nobody but the reports so far has written it.
    let ours = before.map(|host| declared(&host.row.report, host.row.source)).unwrap_or_default();
    let owner = match before {
        // A provider that stood before its host's first report is a client's.
        None if root.is_some() => InventoryOwner::Placement,
        None => InventoryOwner::Report,
        // Somebody deleted the provider, which makes nobody another's.
        Some(host) if root.is_none() => host.row.inventory_owner,
        Some(_) if ours.is_empty() && !there.is_empty() => InventoryOwner::Placement,
        Some(host) => host.row.inventory_owner,
    };
    let anew = take_over || root.is_none();
    let explicit = before.is_some_and(|host| host.row.report.inventory.is_some());
    let owner = if take_over { InventoryOwner::Report } else { owner };
    let set = match (owner, &report.inventory) {
        (InventoryOwner::Placement, Some(_)) => {
            return Err(SchedulerError::InventoryOwned { host: node.to_owned() });
        }
        (InventoryOwner::Placement, None) => None,
        (InventoryOwner::Report, Some(inventory)) => Some(inventory.clone()),
        (InventoryOwner::Report, None) if anew || (!explicit && there == ours) => {
            Some(declared(report, source)).filter(|declared| !declared.is_empty())
        }
        (InventoryOwner::Report, None) => None,
    };
    Ok(Outcome { owner, set })
}

/// The inventory that a report stands for: the one it names, else what its
/// figures give. Nothing is made of figures that come over the bus or from Nova's
/// databases: the compute services there write inventories of their own.
fn declared(report: &HostReport, source: HostSource) -> Inventories {
    if let Some(inventory) = &report.inventory {
        return inventory.clone();
    }
    if source != HostSource::Rest {
        return Inventories::new();
    }
    let figures = [
        ("VCPU", report.vcpus, report.cpu_allocation_ratio),
        ("MEMORY_MB", report.memory_mb, report.ram_allocation_ratio),
        ("DISK_GB", report.local_gb, report.disk_allocation_ratio),
    ];
    figures
        .into_iter()
        .filter_map(|(class, total, ratio)| {
            let total = total.filter(|total| *total > 0)?;
            let allocation_ratio = ratio.filter(|ratio| *ratio > 0.0).unwrap_or(1.0);
            let inventory = Inventory {
                total,
                reserved: 0,
                min_unit: 1,
                max_unit: total,
                step_size: 1,
                allocation_ratio,
            };
            Some((class.to_owned(), inventory))
        })
        .collect()
}

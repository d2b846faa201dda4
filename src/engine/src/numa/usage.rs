//! What a server takes from the cells of its host.

use stowplan_model::host_devices::NumaCell;

use super::packing::pack;
use super::{HostCell, NumaNeeds, ThreadPolicy, pages};
use crate::numa::Fit;
use crate::table::HostNuma;

/// The cells of a host after a server has taken its own from them as fitted:
/// memory, pages, shared CPUs, and the CPUs that it pins.
#[must_use]
pub fn after(numa: &HostNuma, needs: &NumaNeeds, fit: &Fit) -> HostNuma {
    let mut cells = numa.cells.clone();
    for (place, (chosen, page)) in fit.cells.iter().zip(&fit.pages).enumerate() {
        if let Some(cell) = cells.get_mut(*chosen) {
            take(cell, needs, place, *page);
        }
    }
    HostNuma { cells }
}

fn take(cell: &mut NumaCell, needs: &NumaNeeds, place: usize, page: i64) {
    let need = &needs.cells[place];
    let size =
        if page == 0 { pages::smallest(cell).map(|pages| pages.size_kb) } else { Some(page) };
    if let Some(pages) = cell.mempages.iter_mut().find(|pages| Some(pages.size_kb) == size) {
        let taken = pages::count(pages, need.memory);
        pages.used = pages.used.saturating_add(taken).max(0);
    }
    let pinning = if need.policy.pins() {
        pack(&HostCell::new(cell), need, needs.reserved(place))
    } else {
        None
    };
    cell.memory_usage = cell.memory_usage.saturating_add(need.memory).max(0);
    cell.cpu_usage = cell.cpu_usage.saturating_add(need.shared as i64).max(0);
    let Some(pinning) = pinning else { return };
    let mut pinned: Vec<i64> = pinning.cpus.into_iter().chain(pinning.reserved).collect();
    if need.threads == ThreadPolicy::Isolate {
        // The other threads of these cores stay empty.
        let cores = cell.siblings.iter().filter(|core| core.iter().any(|c| pinned.contains(c)));
        pinned = cores.flatten().copied().filter(|cpu| cell.pcpuset.contains(cpu)).collect();
    }
    cell.pinned_cpus.extend(pinned);
    cell.pinned_cpus.sort_unstable();
    cell.pinned_cpus.dedup();
}

//! One cell of a server on one cell of a host.

use std::fmt;

use serde::Serialize;
use stowplan_model::host_devices::NumaCell;

use super::packing::pack;
use super::{NeedCell, pages};
use crate::score::Score;

/// How often a host promises its shared CPUs and memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratios {
    pub cpu: f64,
    pub ram: f64,
}

/// A cell of a host, with what is asked of it again and again.
#[derive(Clone, Debug)]
pub(super) struct HostCell<'a> {
    pub cell: &'a NumaCell,
    /// Dedicated CPUs that are free.
    pub free: usize,
    /// Free dedicated CPUs of each core, ascending.
    pub free_cores: Vec<Vec<i64>>,
    /// Threads of a core, at least 1.
    pub threads: usize,
    /// Whether dedicated and shared CPUs are the very same.
    pub all_dedicated: bool,
}

impl<'a> HostCell<'a> {
    pub(super) fn new(cell: &'a NumaCell) -> Self {
        let is_free = |cpu: &i64| cell.pcpuset.contains(cpu) && !cell.pinned_cpus.contains(cpu);
        let free_of = |core: &Vec<i64>| {
            let mut free: Vec<i64> = core.iter().copied().filter(is_free).collect();
            free.sort_unstable();
            free
        };
        let sorted = |cpus: &[i64]| {
            let mut cpus = cpus.to_vec();
            cpus.sort_unstable();
            cpus
        };
        Self {
            cell,
            free: cell.pcpuset.iter().filter(|cpu| is_free(cpu)).count(),
            free_cores: cell.siblings.iter().map(free_of).collect(),
            threads: cell.siblings.iter().map(Vec::len).max().unwrap_or(0).max(1),
            all_dedicated: sorted(&cell.cpuset) == sorted(&cell.pcpuset),
        }
    }

    /// Memory that nobody uses, MiB.
    pub(super) const fn free_memory(&self) -> i64 {
        self.cell.memory.saturating_sub(self.cell.memory_usage)
    }
}

/// Why a cell of a server does not fit onto a cell of a host.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "short_of", rename_all = "snake_case")]
pub enum CellMisfit {
    /// Pages of the size asked for.
    Pages {
        /// KiB, or -1 smallest, -2 large, -3 any.
        wanted: i64,
        /// Memory asked for, KiB.
        wanted_kb: i64,
        /// The most there is free in pages of one such size, KiB.
        free_kb: i64,
    },
    /// Memory.
    Memory {
        /// MiB.
        wanted: i64,
        /// MiB there are: free ones for pinned CPUs, else all.
        has: i64,
    },
    /// Dedicated CPUs.
    DedicatedCpus {
        /// CPUs, one for the emulator included.
        wanted: usize,
        /// CPUs that are free.
        free: usize,
    },
    /// Shared CPUs.
    SharedCpus {
        /// CPUs.
        wanted: usize,
        /// CPUs the cell has.
        has: usize,
    },
    /// Dedicated CPUs that lie on cores as the thread policy wants.
    Threads {
        /// CPUs.
        wanted: usize,
        /// CPUs that are free.
        free: usize,
    },
    /// Shared CPUs, by the allocation ratio.
    CpuLimit {
        /// CPUs in use with the server.
        used: i64,
        /// CPUs that may be.
        limit: Score,
    },
    /// Memory, by the allocation ratio.
    MemoryLimit {
        /// MiB in use with the server.
        used: i64,
        /// MiB that may be.
        limit: Score,
    },
}

impl fmt::Display for CellMisfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages { wanted, wanted_kb, free_kb } => {
                let size = match wanted {
                    -1 => "the smallest size".to_owned(),
                    -2 => "a large size".to_owned(),
                    -3 => "any size".to_owned(),
                    kb => format!("{kb} KiB"),
                };
                write!(f, "{free_kb} KiB are free in pages of {size}, it needs {wanted_kb} whole")
            }
            Self::Memory { wanted, has } => write!(f, "{has} MiB are there, it needs {wanted}"),
            Self::DedicatedCpus { wanted, free } => {
                write!(f, "{free} dedicated CPUs are free, it needs {wanted}")
            }
            Self::SharedCpus { wanted, has } => {
                write!(f, "{has} shared CPUs are there, it needs {wanted}")
            }
            Self::Threads { wanted, free } => write!(
                f,
                "{free} dedicated CPUs are free, but not {wanted} that lie on cores as its thread \
                 policy wants"
            ),
            Self::CpuLimit { used, limit } => {
                write!(f, "{used} shared CPUs would be in use, {} may be", limit.0)
            }
            Self::MemoryLimit { used, limit } => {
                write!(f, "{used} MiB would be in use, {} may be", limit.0)
            }
        }
    }
}

/// Whether a cell of a server fits onto a cell of a host. `page` is the size
/// asked for, and afterwards the one chosen: on the other cells that are tried
/// it is then asked for, as at the peer.
///
/// # Errors
/// What the cell runs short of first.
pub(super) fn fit(
    host: &HostCell<'_>,
    need: &NeedCell,
    page: &mut i64,
    reserved: usize,
    ratios: Option<Ratios>,
) -> Result<(), CellMisfit> {
    let cell = host.cell;
    if *page == 0 {
        memory(host, need)?;
    } else {
        *page = pages::choose(cell, *page, need.memory)?;
    }
    if need.policy.pins() {
        let wanted = need.pinned + reserved;
        let free = host.free;
        if wanted > cell.pcpuset.len() {
            return Err(CellMisfit::DedicatedCpus { wanted, free });
        }
    }
    if need.policy.shares() && need.shared > cell.cpuset.len() {
        return Err(CellMisfit::SharedCpus { wanted: need.shared, has: cell.cpuset.len() });
    }
    if need.policy.pins() {
        let (wanted, free) = (need.pinned + reserved, host.free);
        if wanted > free {
            return Err(CellMisfit::DedicatedCpus { wanted, free });
        }
        if pack(host, need, reserved).is_none() {
            return Err(CellMisfit::Threads { wanted, free });
        }
    }
    match ratios {
        Some(ratios) if need.policy.shares() => within(cell, need, ratios),
        _ => Ok(()),
    }
}

/// Memory for which no page size is asked. That of pinned CPUs is not promised
/// twice.
fn memory(host: &HostCell<'_>, need: &NeedCell) -> Result<(), CellMisfit> {
    let strict = need.policy.pins();
    let total = if strict { host.free_memory() } else { host.cell.memory };
    let (fits, has) = match pages::smallest_hold(host.cell, need.memory, strict) {
        Some(fits) => (fits, pages::smallest(host.cell).map_or(0, |p| pages::kb(p, strict) / 1024)),
        None => (need.memory <= total, total),
    };
    if fits { Ok(()) } else { Err(CellMisfit::Memory { wanted: need.memory, has }) }
}

/// Shared CPUs and memory stay within what the host promises.
fn within(cell: &NumaCell, need: &NeedCell, ratios: Ratios) -> Result<(), CellMisfit> {
    let used = cell.cpu_usage.saturating_add(need.shared as i64);
    let limit = cell.cpuset.len() as f64 * ratios.cpu;
    if used as f64 > limit {
        return Err(CellMisfit::CpuLimit { used, limit: Score(limit) });
    }
    let used = cell.memory_usage.saturating_add(need.memory);
    let limit = cell.memory as f64 * ratios.ram;
    if used as f64 > limit {
        return Err(CellMisfit::MemoryLimit { used, limit: Score(limit) });
    }
    Ok(())
}

//! The NUMA topology that a server asks for, read once.

use stowplan_model::request_devices::{RequestCell, RequestNuma};

use crate::fault::Fault;

/// The cells that a server asks for.
#[derive(Clone, Debug)]
pub struct NumaNeeds {
    pub(super) cells: Vec<NeedCell>,
    /// Threads of the emulator have a CPU of their own, on the first cell.
    pub(super) emulator_isolated: bool,
}

/// One cell that a server asks for.
#[derive(Clone, Debug)]
pub(super) struct NeedCell {
    /// Its number inside the server.
    pub id: i64,
    /// CPUs that float over the host's shared ones.
    pub shared: usize,
    /// CPUs that are pinned.
    pub pinned: usize,
    /// Memory, MiB.
    pub memory: i64,
    /// Page size as asked for; 0 when any way of holding the memory will do.
    pub page: i64,
    pub policy: CpuPolicy,
    pub threads: ThreadPolicy,
}

/// Whether CPUs are pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CpuPolicy {
    Shared,
    Dedicated,
    Mixed,
}

impl CpuPolicy {
    /// Has CPUs that are pinned.
    pub const fn pins(self) -> bool {
        matches!(self, Self::Dedicated | Self::Mixed)
    }

    /// Has CPUs that float.
    pub const fn shares(self) -> bool {
        matches!(self, Self::Shared | Self::Mixed)
    }
}

/// How pinned CPUs lie on the threads of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadPolicy {
    /// On threads of one core as far as may be.
    Prefer,
    /// Each on a core of its own.
    Isolate,
    /// On threads of one core.
    Require,
}

const CPU_POLICIES: &[(&str, CpuPolicy)] = &[
    ("shared", CpuPolicy::Shared),
    ("dedicated", CpuPolicy::Dedicated),
    ("mixed", CpuPolicy::Mixed),
];

const THREAD_POLICIES: &[(&str, ThreadPolicy)] = &[
    ("prefer", ThreadPolicy::Prefer),
    ("isolate", ThreadPolicy::Isolate),
    ("require", ThreadPolicy::Require),
];

/// The policy of the emulator's threads that gives them a CPU of their own.
const ISOLATE: &str = "isolate";

impl NumaNeeds {
    /// Reads the topology of a request.
    ///
    /// # Errors
    /// A policy that does not exist.
    pub fn read(request: &RequestNuma) -> Result<Self, Fault> {
        Ok(Self {
            cells: request.cells.iter().map(NeedCell::read).collect::<Result<_, _>>()?,
            emulator_isolated: request.emulator_threads_policy.as_deref() == Some(ISOLATE),
        })
    }

    /// CPUs set aside for the emulator on the cell at `place`.
    pub(super) fn reserved(&self, place: usize) -> usize {
        usize::from(self.emulator_isolated && place == 0)
    }
}

impl NeedCell {
    fn read(cell: &RequestCell) -> Result<Self, Fault> {
        Ok(Self {
            id: cell.id,
            shared: distinct(&cell.cpuset),
            pinned: distinct(&cell.pcpuset),
            memory: cell.memory,
            page: cell.pagesize.unwrap_or(0),
            policy: word("cpu_policy", cell.cpu_policy.as_deref(), CPU_POLICIES)?,
            threads: word("cpu_thread_policy", cell.cpu_thread_policy.as_deref(), THREAD_POLICIES)?,
        })
    }
}

fn distinct(cpus: &[i64]) -> usize {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    cpus.len()
}

/// The policy of that name; the first of the table when there is none.
fn word<T: Copy>(
    field: &str,
    text: Option<&str>,
    table: &'static [(&'static str, T)],
) -> Result<T, Fault> {
    let found = match text {
        None => table.first(),
        Some(text) => table.iter().find(|(name, _)| *name == text),
    };
    found.map(|(_, policy)| *policy).ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        Fault::value(format!(
            "{field} of a NUMA cell is \"{}\": expected one of {}",
            text.unwrap_or_default(),
            known.join(", ")
        ))
    })
}

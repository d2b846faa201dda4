//! The NUMA cells of hosts, and what of them is taken.

use super::policy::{Choice, Pair, Policy};
use crate::amounts::{Amounts, DimIx, Dims, Quantity};
use crate::session::{CellShare, State, TaskIx};
use crate::world::World;
use std::collections::BTreeMap;
use stowplan_engine::{HostIx, HostView};
use stowplan_model::host_devices::NumaCell;

/// One cell: its number, what it has and what of that is taken, in quanta of
/// cpu and memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) id: i64,
    pub(super) all: Pair,
    pub(super) used: Pair,
}

impl Cell {
    pub(super) fn free(&self) -> Pair {
        [self.all[0] - self.used[0], self.all[1] - self.used[1]]
    }
}

/// The cells of all hosts that report any.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    by_host: BTreeMap<HostIx, Vec<Cell>>,
    /// What tasks took in this session or before, by task.
    shares: BTreeMap<TaskIx, (HostIx, Vec<CellShare>)>,
}

/// What a task asks of cells.
pub(super) fn pair(request: &Amounts) -> Pair {
    [request.get(DimIx::CPU), request.get(DimIx::MEMORY)]
}

/// The cells of a host as it reports them, with what virtual machines use.
fn reported(world: &World, dims: &Dims, host: HostIx) -> Vec<Cell> {
    let Some(numa) = world.numa(host) else { return Vec::new() };
    // Dedicated processors, where tasks are charged for such.
    let dedicated = dims.class(DimIx::CPU) == Some("PCPU");
    let quantum = |dim, unit| dims.quantum(dim).quanta(unit).max(1);
    let thousandths = quantum(DimIx::CPU, Quantity::milli(1));
    let bytes = quantum(DimIx::MEMORY, Quantity::units(1));
    let cpu = |count: i64| count.saturating_mul(1000) / thousandths;
    let memory = |mib: i64| mib.saturating_mul(1 << 20) / bytes;
    let cell = |cell: &NumaCell| {
        let (cpus, used) = match dedicated {
            true => (cell.pcpuset.len() as i64, cell.pinned_cpus.len() as i64),
            false => (cell.cpuset.len() as i64, cell.cpu_usage),
        };
        Cell {
            id: cell.id,
            all: [cpu(cpus), memory(cell.memory)],
            used: [cpu(used), memory(cell.memory_usage)],
        }
    };
    numa.cells.iter().map(cell).collect()
}

impl Cells {
    /// As a session begins: tasks keep the cells that they were given.
    pub(super) fn new(state: &State) -> Self {
        let (world, mut all) = (&state.world, Self::default());
        for &host in world.order() {
            let cells = reported(world, world.dims(), host);
            if !cells.is_empty() {
                all.by_host.insert(host, cells);
            }
        }
        for task in state.jobs().flat_map(|job| state[job].tasks.iter().copied()) {
            let at = &state[task];
            if let Some(host) = at.host.filter(|_| !at.cells.is_empty() && at.status.is_on_host()) {
                all.enter(task, host, at.cells.clone());
            }
        }
        all
    }

    /// Which cells of a host a task would get.
    pub(super) fn choose(&self, policy: Policy, host: HostIx, request: Pair) -> Choice {
        self.by_host.get(&host).map_or(Choice::Never, |cells| policy.choose(cells, request))
    }

    /// Gives a task cells of its host.
    pub(super) fn take(&mut self, policy: Policy, task: TaskIx, host: HostIx, request: Pair) {
        // One that is spared after all keeps what it had.
        if let Some((_, shares)) = self.shares.get(&task) {
            let shares = shares.clone();
            return self.enter(task, host, shares);
        }
        let Choice::Cells(set) = self.choose(policy, host, request) else { return };
        let Some(cells) = self.by_host.get(&host) else { return };
        let (mut left, mut shares) = (request, Vec::new());
        for cell in set.into_iter().filter_map(|at| cells.get(at)) {
            let part = [0, 1].map(|kind| left[kind].min(cell.free()[kind].max(0)));
            left = [left[0] - part[0], left[1] - part[1]];
            shares.push(CellShare { cell: cell.id, cpu: part[0], memory: part[1] });
        }
        self.enter(task, host, shares);
    }

    fn enter(&mut self, task: TaskIx, host: HostIx, shares: Vec<CellShare>) {
        self.add(host, &shares, 1);
        self.shares.insert(task, (host, shares));
    }

    /// Takes a task's cells back; `keeps` when it may yet stay where it is.
    pub(super) fn give_back(&mut self, task: TaskIx, keeps: bool) {
        let Some((host, shares)) = self.shares.remove(&task) else { return };
        self.add(host, &shares, -1);
        if keeps {
            self.shares.insert(task, (host, shares));
        }
    }

    fn add(&mut self, host: HostIx, shares: &[CellShare], sign: i64) {
        let cells = self.by_host.get_mut(&host).map(Vec::as_mut_slice).unwrap_or_default();
        for share in shares {
            if let Some(cell) = cells.iter_mut().find(|cell| cell.id == share.cell) {
                cell.used[0] += sign * share.cpu;
                cell.used[1] += sign * share.memory;
            }
        }
    }

    /// The cells that a task was given.
    pub(super) fn of(&self, task: TaskIx) -> Vec<CellShare> {
        self.shares.get(&task).map(|(_, shares)| shares.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    /// Cells of one host, and tasks that come and go.
    fn host(sizes: &[i64]) -> Cells {
        let cell = |(id, size): (usize, &i64)| Cell {
            id: id as i64,
            all: [*size, 10 * size],
            used: [0, 0],
        };
        let cells = sizes.iter().enumerate().map(cell).collect();
        Cells { by_host: [(HostIx(0), cells)].into(), ..Cells::default() }
    }

    proptest! {
        #[test]
        fn no_cell_gives_more_than_it_has_and_all_comes_back(
            sizes in prop::collection::vec(1_i64..9, 1..10),
            steps in prop::collection::vec((0_u32..12, 1_i64..12, 0_usize..3), 0..60),
        ) {
            let mut cells = host(&sizes);
            let before = cells.by_host.clone();
            for (task, cpu, policy) in steps {
                let task = TaskIx(task);
                if cells.shares.contains_key(&task) {
                    cells.give_back(task, false);
                    continue;
                }
                let policy = [Policy::Single, Policy::Restricted, Policy::BestEffort][policy];
                let request = [cpu, 2 * cpu];
                let choice = cells.choose(policy, HostIx(0), request);
                cells.take(policy, task, HostIx(0), request);
                let given = cells.of(task);
                prop_assert_eq!(!given.is_empty(), matches!(choice, Choice::Cells(_)));
                if !given.is_empty() {
                    prop_assert_eq!(given.iter().map(|share| share.cpu).sum::<i64>(), cpu);
                    prop_assert_eq!(given.iter().map(|share| share.memory).sum::<i64>(), 2 * cpu);
                    prop_assert!(policy != Policy::Single || given.len() == 1);
                }
                for cell in &cells.by_host[&HostIx(0)] {
                    prop_assert!(cell.free().iter().all(|free| *free >= 0), "{:?}", cell);
                }
            }
            for task in (0..12).map(TaskIx) {
                cells.give_back(task, false);
            }
            prop_assert_eq!(cells.by_host, before);
        }
    }
}

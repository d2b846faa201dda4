//! Which CPUs of a host's cell pinned CPUs of a server get.

use super::{HostCell, NeedCell, ThreadPolicy};

/// CPUs of a host's cell given to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pinning {
    /// Those of its own CPUs.
    pub cpus: Vec<i64>,
    /// Those of its emulator.
    pub reserved: Vec<i64>,
}

/// Pins the CPUs of a server's cell, threads of one core together as its policy
/// says, and sets `reserved` further ones aside. `None` when that cannot be.
pub(super) fn pack(cell: &HostCell<'_>, need: &NeedCell, reserved: usize) -> Option<Pinning> {
    let cores = Cores { free: &cell.free_cores, wanted: need.pinned, reserved };
    match need.threads {
        ThreadPolicy::Isolate => cores.isolated(cell),
        ThreadPolicy::Require if cell.threads <= 1 => None,
        ThreadPolicy::Require => cores.together(2).complete(),
        ThreadPolicy::Prefer => {
            let together = cores.together(1);
            if together.pinned.as_ref().is_none_or(Vec::is_empty) {
                cores.anyhow().complete()
            } else {
                together.complete()
            }
        }
    }
}

/// The free threads of each core, and what is wanted of them.
struct Cores<'a> {
    free: &'a [Vec<i64>],
    wanted: usize,
    reserved: usize,
}

/// What came of one way of pinning: the CPUs, and whether enough is left for
/// those set aside.
#[derive(Default)]
struct Try {
    pinned: Option<Vec<i64>>,
    reserved: Option<Vec<i64>>,
}

impl Try {
    fn complete(self) -> Option<Pinning> {
        Some(Pinning { cpus: self.pinned?, reserved: self.reserved? })
    }
}

impl Cores<'_> {
    /// One thread of each of the wholly free cores, the others staying empty.
    fn isolated(&self, cell: &HostCell<'_>) -> Option<Pinning> {
        let whole: Vec<&Vec<i64>> = self.with(cell.threads).collect();
        // Threads of cores that shared CPUs use too cannot be kept empty.
        if whole.is_empty() || (cell.threads != 1 && !cell.all_dedicated) {
            return None;
        }
        let cpus: Vec<i64> = whole.iter().filter_map(|core| core.first().copied()).collect();
        let pinned = cpus.get(..self.wanted).filter(|cpus| !cpus.is_empty())?.to_vec();
        let others = self.with(1).filter(|core| !core.iter().any(|cpu| pinned.contains(cpu)));
        let reserved = self.set_aside(&pinned, others.flatten().copied())?;
        Some(Pinning { cpus: pinned, reserved })
    }

    /// As many threads of each core as there can be, down to `least`.
    fn together(&self, least: usize) -> Try {
        let most = self.free.iter().map(Vec::len).max().unwrap_or(0);
        let mut last = Try::default();
        for threads in (least..=most).rev() {
            let cores: Vec<&Vec<i64>> = self.with(threads).collect();
            last = Try::default();
            if threads * cores.len() >= self.wanted {
                let cpus = cores.iter().flat_map(|core| &core[..threads]).copied();
                last = self.pin(cpus);
                if last.reserved.is_some() {
                    break;
                }
            }
        }
        last
    }

    /// Any free threads.
    fn anyhow(&self) -> Try {
        let cpus: Vec<i64> = self.free.iter().flatten().copied().collect();
        if cpus.len() < self.wanted {
            return Try::default();
        }
        self.pin(cpus.into_iter())
    }

    fn pin(&self, cpus: impl Iterator<Item = i64>) -> Try {
        let pinned: Vec<i64> = cpus.take(self.wanted).collect();
        let others = self.free.iter().flatten().copied().filter(|cpu| !pinned.contains(cpu));
        let reserved = self.set_aside(&pinned, others);
        Try { pinned: Some(pinned), reserved }
    }

    /// The CPUs set aside; they come with pinned ones only.
    fn set_aside(&self, pinned: &[i64], left: impl Iterator<Item = i64>) -> Option<Vec<i64>> {
        if self.reserved == 0 {
            return Some(Vec::new());
        }
        let aside: Vec<i64> = left.take(self.reserved).collect();
        (!pinned.is_empty() && !aside.is_empty()).then_some(aside)
    }

    /// Cores with at least so many free threads.
    fn with(&self, threads: usize) -> impl Iterator<Item = &Vec<i64>> {
        self.free.iter().filter(move |core| core.len() >= threads)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CpuPolicy;
    use super::*;
    use stowplan_model::host_devices::NumaCell;

    /// Four cores of two threads: 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    fn cell(pinned: &[i64]) -> NumaCell {
        NumaCell {
            cpuset: (0..8).collect(),
            pcpuset: (0..8).collect(),
            pinned_cpus: pinned.to_vec(),
            siblings: (0..4).map(|core| vec![core, core + 4]).collect(),
            ..NumaCell::default()
        }
    }

    fn pinning(
        cell: &NumaCell,
        threads: ThreadPolicy,
        cpus: usize,
        aside: usize,
    ) -> Option<String> {
        let need = NeedCell {
            id: 0,
            shared: 0,
            pinned: cpus,
            memory: 0,
            page: 0,
            policy: CpuPolicy::Dedicated,
            threads,
        };
        let pinning = pack(&HostCell::new(cell), &need, aside)?;
        Some(format!("{:?} {:?}", pinning.cpus, pinning.reserved))
    }

    #[test]
    fn threads_of_one_core_are_preferred() {
        use ThreadPolicy::{Isolate, Prefer, Require};
        let free = cell(&[]);
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(pinning(&free, Prefer, 3, 0), is("[0, 4, 1] []"));
        assert_eq!(pinning(&free, Prefer, 3, 1), is("[0, 4, 1] [5]"));
        assert_eq!(pinning(&free, Require, 2, 0), is("[0, 4] []"));
        assert_eq!(pinning(&free, Isolate, 3, 0), is("[0, 1, 2] []"));
        assert_eq!(pinning(&free, Isolate, 3, 1), is("[0, 1, 2] [3]"));
        assert_eq!(pinning(&free, Isolate, 4, 1), None);
        assert_eq!(pinning(&free, Isolate, 5, 0), None);

        // Halves of cores are left: no two threads of one.
        let halves = cell(&[4, 5, 6]);
        assert_eq!(pinning(&halves, Prefer, 2, 0), is("[3, 7] []"));
        assert_eq!(pinning(&halves, Prefer, 3, 0), is("[0, 1, 2] []"));
        assert_eq!(pinning(&halves, Prefer, 5, 0), is("[0, 1, 2, 3, 7] []"));
        assert_eq!(pinning(&halves, Prefer, 6, 0), None);
        assert_eq!(pinning(&halves, Require, 3, 0), None);
        assert_eq!(pinning(&halves, Isolate, 2, 0), None);
    }

    #[test]
    fn cores_without_second_threads() {
        use ThreadPolicy::{Isolate, Prefer, Require};
        let mut single = cell(&[]);
        single.siblings = (0..8).map(|cpu| vec![cpu]).collect();
        single.cpuset = Vec::new();
        assert!(pinning(&single, Prefer, 8, 0).is_some());
        assert!(pinning(&single, Isolate, 8, 0).is_some());
        assert_eq!(pinning(&single, Require, 1, 0), None);
        assert_eq!(pinning(&single, Prefer, 8, 1), None);
    }

    #[test]
    fn isolation_needs_cores_that_nobody_shares() {
        let mut shared = cell(&[]);
        shared.cpuset = vec![0, 1];
        assert_eq!(pinning(&shared, ThreadPolicy::Isolate, 1, 0), None);
    }
}

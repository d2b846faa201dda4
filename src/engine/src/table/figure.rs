//! Which figures of a host stand in columns.

use serde::Serialize;

/// A whole number that every host has. Unless said otherwise it follows the
/// attribute of Nova's host state with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// MiB left; negative when overcommitted.
    FreeRamMb,
    /// MiB that exist.
    TotalUsableRamMb,
    /// MiB left; negative when overcommitted.
    FreeDiskMb,
    /// MiB in use.
    DiskMbUsed,
    /// GiB that exist.
    TotalUsableDiskGb,
    /// CPUs that exist.
    VcpusTotal,
    /// CPUs in use.
    VcpusUsed,
    /// Servers on the host.
    NumInstances,
    /// Builds, resizes and the like that are going on.
    NumIoOps,
    /// Builds that failed since the last success.
    FailedBuilds,
    /// major x 1,000,000 + minor x 1,000 + patch; 0 when not known.
    HypervisorVersion,
    /// Bits of [`super::StateFlags`].
    StateFlags,
    /// Microseconds since the epoch at which the service was last seen, else
    /// made; `i64::MIN` when neither is known.
    AliveSince,
    /// Batch tasks at most; -1 for the default of the configuration.
    MaxTasks,
}

impl Figure {
    /// Figures there are.
    pub const COUNT: usize = 14;

    /// All of them, in the order of their columns.
    pub const ALL: [Self; Self::COUNT] = [
        Self::FreeRamMb,
        Self::TotalUsableRamMb,
        Self::FreeDiskMb,
        Self::DiskMbUsed,
        Self::TotalUsableDiskGb,
        Self::VcpusTotal,
        Self::VcpusUsed,
        Self::NumInstances,
        Self::NumIoOps,
        Self::FailedBuilds,
        Self::HypervisorVersion,
        Self::StateFlags,
        Self::AliveSince,
        Self::MaxTasks,
    ];

    /// Its place among the columns.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The figure of that name of Nova's host state.
    #[must_use]
    pub fn named(attribute: &str) -> Option<Self> {
        Some(match attribute {
            "free_ram_mb" => Self::FreeRamMb,
            "total_usable_ram_mb" => Self::TotalUsableRamMb,
            "free_disk_mb" => Self::FreeDiskMb,
            "disk_mb_used" => Self::DiskMbUsed,
            "total_usable_disk_gb" => Self::TotalUsableDiskGb,
            "vcpus_total" => Self::VcpusTotal,
            "vcpus_used" => Self::VcpusUsed,
            "num_instances" => Self::NumInstances,
            "num_io_ops" => Self::NumIoOps,
            "failed_builds" => Self::FailedBuilds,
            _ => return None,
        })
    }
}

/// A value for each figure of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures([i64; Figure::COUNT]);

impl Default for Figures {
    /// All 0, never seen, no bound of its own on tasks.
    fn default() -> Self {
        let mut figures = Self([0; Figure::COUNT]);
        figures.set(Figure::AliveSince, i64::MIN);
        figures.set(Figure::MaxTasks, -1);
        figures
    }
}

impl Figures {
    /// The value of `figure`.
    #[must_use]
    pub const fn get(&self, figure: Figure) -> i64 {
        self.0[figure.index()]
    }

    /// Sets the value of `figure`.
    pub const fn set(&mut self, figure: Figure, value: i64) {
        self.0[figure.index()] = value;
    }

    /// The same with `figure` set: for building.
    #[must_use]
    pub const fn with(mut self, figure: Figure, value: i64) -> Self {
        self.set(figure, value);
        self
    }
}

/// Bits of [`Figure::StateFlags`].
pub struct StateFlags;

impl StateFlags {
    /// The service takes no new servers.
    pub const DISABLED: i64 = 1;
    /// An operator declared the service down.
    pub const FORCED_DOWN: i64 = 1 << 1;
    /// Known from the message bus alone, where nobody sends heartbeats.
    pub const BUS_ONLY: i64 = 1 << 2;
    /// Takes no new batch tasks.
    pub const UNSCHEDULABLE: i64 = 1 << 3;
}

/// How often a host promises its resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ratio {
    /// CPUs.
    Cpu,
    /// Memory.
    Ram,
    /// Disk.
    Disk,
}

impl Ratio {
    /// Ratios there are.
    pub const COUNT: usize = 3;

    /// All of them, in the order of their columns.
    pub const ALL: [Self; Self::COUNT] = [Self::Cpu, Self::Ram, Self::Disk];

    /// Its place among the columns.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The ratio of that name of Nova's host state.
    #[must_use]
    pub fn named(attribute: &str) -> Option<Self> {
        Some(match attribute {
            "cpu_allocation_ratio" => Self::Cpu,
            "ram_allocation_ratio" => Self::Ram,
            "disk_allocation_ratio" => Self::Disk,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_own_place() {
        for (place, figure) in Figure::ALL.into_iter().enumerate() {
            assert_eq!(figure.index(), place);
        }
        for (place, ratio) in Ratio::ALL.into_iter().enumerate() {
            assert_eq!(ratio.index(), place);
        }
    }
}

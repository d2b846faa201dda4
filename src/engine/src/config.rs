//! The settings the engine reads: a validated snapshot.

use stowplan_config::{FilterScheduler, Metrics, Settings, WeightNormalization};
use stowplan_model::Micros;

/// The settings the engine reads, in its own units where those differ.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineConfig {
    /// `[filter_scheduler]`.
    pub scheduler: FilterScheduler,
    /// `[metrics]`.
    pub metrics: Metrics,
    /// A service that was silent for longer is down, microseconds
    /// (`service_down_time`).
    pub service_down_time: i64,
    /// The same for a host known from the message bus alone: nobody sends
    /// heartbeats there, so at least 2.5 x `scheduler_instance_sync_interval`.
    pub bus_down_time: i64,
    /// Fill the NUMA cells of a host one after the other rather than spread
    /// (`[compute] packing_host_numa_cells_allocation_strategy`).
    pub pack_numa_cells: bool,
    /// Builds that failed on a host do not count
    /// (`[compute] consecutive_build_service_disable_threshold` is 0).
    pub ignores_failed_builds: bool,
    /// Preferred hosts of a scheduling hint that count, at least 1
    /// (`[scheduler] max_hint_nodes`).
    pub max_hint_nodes: usize,
}

impl EngineConfig {
    /// How raw values become weights.
    #[must_use]
    pub const fn normalisation(&self) -> WeightNormalization {
        self.scheduler.weight_normalization
    }

    /// The destination is drawn from this many of the best hosts, at least 1.
    #[must_use]
    pub fn subset(&self) -> usize {
        self.scheduler.host_subset_size.max(1) as usize
    }
}

impl From<&Settings> for EngineConfig {
    fn from(settings: &Settings) -> Self {
        let microseconds = |seconds: i64| seconds.saturating_mul(Micros::PER_SECOND);
        let down = microseconds(settings.default.service_down_time);
        let sync = microseconds(settings.default.scheduler_instance_sync_interval);
        Self {
            scheduler: settings.filter_scheduler.clone(),
            metrics: settings.metrics.clone(),
            service_down_time: down,
            bus_down_time: down.max(sync.saturating_mul(5) / 2),
            pack_numa_cells: settings.compute.packing_host_numa_cells_allocation_strategy,
            ignores_failed_builds: settings.compute.consecutive_build_service_disable_threshold
                == 0,
            max_hint_nodes: settings.scheduler.max_hint_nodes as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_on_the_bus_may_be_silent_for_longer() {
        let config = EngineConfig::from(&Settings::default());
        assert_eq!(config.service_down_time, 60_000_000);
        assert_eq!(config.bus_down_time, 300_000_000);
    }
}

//! The settings the engine reads: a validated snapshot.

use stowplan_model::Micros;

/// How raw values become weights of 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalisation {
    /// The documented rule: lowest host 0, highest 1, all equal 0.
    #[default]
    MinMax,
    /// What Nova computes: amounts (CPU, memory, disk, IO operations) from 0.
    Nova,
}

/// The settings the engine reads, checked and in its own units.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineConfig {
    /// Filters in their order, by name.
    pub enabled_filters: Vec<String>,
    /// Weighers in the order of their sum, by name.
    pub weight_classes: Vec<String>,
    /// How raw values become weights.
    pub normalisation: Normalisation,
    /// Draw the destination from this many of the best hosts, at least 1.
    pub host_subset_size: usize,
    /// Shuffle the hosts that share the best weight.
    pub shuffle_best_same_weighed_hosts: bool,
    /// A service that was silent for longer is down, microseconds.
    pub service_down_time: i64,
    /// The same for a host known from the message bus alone, microseconds.
    pub bus_down_time: i64,
    /// Architecture of an image that names none.
    pub image_properties_default_architecture: Option<String>,
    /// Multipliers of the weighers.
    pub multipliers: WeightMultipliers,
}

/// Multipliers by weigher, defaults as Nova's.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightMultipliers {
    /// `ram_weight_multiplier`.
    pub ram: f64,
    /// `cpu_weight_multiplier`.
    pub cpu: f64,
    /// `disk_weight_multiplier`.
    pub disk: f64,
    /// `io_ops_weight_multiplier`.
    pub io_ops: f64,
    /// `build_failure_weight_multiplier`.
    pub build_failure: f64,
}

impl EngineConfig {
    /// Microseconds in a second, for the settings that are seconds.
    pub const SECOND: i64 = Micros::PER_SECOND;
}

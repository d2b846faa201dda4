//! Weighers whose raw value is one figure of the host.

use stowplan_config::WeightNormalization;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::{Figure, HostIx};
use crate::view::HostView;
use crate::weigher::{Bounds, Constant, MultiplierRule, RawScore, Weigher};

/// A weigher whose raw value is one figure of the host.
#[derive(Clone, Copy)]
pub struct FigureWeigher {
    name: &'static str,
    figure: Figure,
    option: &'static str,
    key: &'static str,
    configured: fn(&EngineConfig) -> f64,
    negated: bool,
    /// An amount: counted from 0 where Nova does so.
    amount: bool,
    /// Whether the settings say not to look at the figure.
    ignored: fn(&EngineConfig) -> bool,
}

/// Of a figure that is always looked at.
const fn never(_config: &EngineConfig) -> bool {
    false
}

/// `RAMWeigher`: MiB of memory left.
pub const RAM: FigureWeigher = FigureWeigher {
    name: "RAMWeigher",
    figure: Figure::FreeRamMb,
    option: "filter_scheduler.ram_weight_multiplier",
    key: "ram_weight_multiplier",
    configured: |config| config.scheduler.ram_weight_multiplier,
    negated: false,
    amount: true,
    ignored: never,
};

/// `DiskWeigher`: MiB of disk left.
pub const DISK: FigureWeigher = FigureWeigher {
    name: "DiskWeigher",
    figure: Figure::FreeDiskMb,
    option: "filter_scheduler.disk_weight_multiplier",
    key: "disk_weight_multiplier",
    configured: |config| config.scheduler.disk_weight_multiplier,
    negated: false,
    amount: true,
    ignored: never,
};

/// `IoOpsWeigher`: builds, resizes and the like going on. Its multiplier is
/// negative by default, so that quiet hosts are preferred.
pub const IO_OPS: FigureWeigher = FigureWeigher {
    name: "IoOpsWeigher",
    figure: Figure::NumIoOps,
    option: "filter_scheduler.io_ops_weight_multiplier",
    key: "io_ops_weight_multiplier",
    configured: |config| config.scheduler.io_ops_weight_multiplier,
    negated: false,
    amount: true,
    ignored: never,
};

/// `BuildFailureWeigher`: builds that failed since the last success. Option
/// and overrides count negated: a host that fails sinks.
pub const BUILD_FAILURE: FigureWeigher = FigureWeigher {
    name: "BuildFailureWeigher",
    figure: Figure::FailedBuilds,
    option: "filter_scheduler.build_failure_weight_multiplier",
    key: "build_failure_weight_multiplier",
    configured: |config| config.scheduler.build_failure_weight_multiplier,
    negated: true,
    amount: false,
    ignored: |config| config.ignores_failed_builds,
};

/// `HypervisorVersionWeigher`: the newer the higher.
pub const HYPERVISOR_VERSION: FigureWeigher = FigureWeigher {
    name: "HypervisorVersionWeigher",
    figure: Figure::HypervisorVersion,
    option: "filter_scheduler.hypervisor_version_weight_multiplier",
    key: "hypervisor_version_weight_multiplier",
    configured: |config| config.scheduler.hypervisor_version_weight_multiplier,
    negated: false,
    amount: false,
    ignored: never,
};

/// `NumInstancesWeigher`: servers on the host. Its multiplier is 0 by default.
pub const NUM_INSTANCES: FigureWeigher = FigureWeigher {
    name: "NumInstancesWeigher",
    figure: Figure::NumInstances,
    option: "filter_scheduler.num_instances_weight_multiplier",
    key: "num_instances_weight_multiplier",
    configured: |config| config.scheduler.num_instances_weight_multiplier,
    negated: false,
    amount: false,
    ignored: never,
};

impl Weigher for FigureWeigher {
    fn name(&self) -> &'static str {
        self.name
    }

    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule {
        MultiplierRule {
            option: self.option,
            key: self.key,
            configured: (self.configured)(config),
            negated: self.negated,
        }
    }

    fn bounds(&self, normalisation: WeightNormalization) -> Bounds {
        if self.amount { Bounds::amount(normalisation) } else { Bounds::NONE }
    }

    fn prepare(
        &self,
        cx: &RequestCx<'_>,
        _multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault> {
        if (self.ignored)(cx.config) {
            return Ok(Box::new(Constant(0.0)));
        }
        Ok(Box::new(OneFigure(self.figure)))
    }
}

struct OneFigure(Figure);

impl RawScore for OneFigure {
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault> {
        Ok(view.figure(self.0, host) as f64)
    }

    fn fill(&self, view: &dyn HostView, hosts: &[HostIx], out: &mut [f64]) -> Result<(), Fault> {
        view.column(self.0).gather(hosts, out, |value| value as f64);
        Ok(())
    }
}

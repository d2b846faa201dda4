//! `CPUWeigher`: CPUs left, overcommitment counted in.

use stowplan_config::WeightNormalization;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::{Figure, HostIx, Ratio};
use crate::view::HostView;
use crate::weigher::{Bounds, MultiplierRule, RawScore, Weigher};

/// CPUs x allocation ratio - CPUs in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuWeigher;

impl Weigher for CpuWeigher {
    fn name(&self) -> &'static str {
        "CPUWeigher"
    }

    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule {
        MultiplierRule {
            option: "filter_scheduler.cpu_weight_multiplier",
            key: "cpu_weight_multiplier",
            configured: config.scheduler.cpu_weight_multiplier,
            negated: false,
        }
    }

    fn bounds(&self, normalisation: WeightNormalization) -> Bounds {
        Bounds::amount(normalisation)
    }

    fn prepare(
        &self,
        _cx: &RequestCx<'_>,
        _multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault> {
        Ok(Box::new(FreeCpus))
    }
}

struct FreeCpus;

/// In this order of operations: every host gets the same last bit everywhere.
fn free(total: i64, ratio: f64, used: i64) -> f64 {
    total as f64 * ratio - used as f64
}

impl RawScore for FreeCpus {
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault> {
        Ok(free(
            view.figure(Figure::VcpusTotal, host),
            view.ratio(Ratio::Cpu, host),
            view.figure(Figure::VcpusUsed, host),
        ))
    }

    fn fill(&self, view: &dyn HostView, hosts: &[HostIx], out: &mut [f64]) -> Result<(), Fault> {
        let mut total = view.column(Figure::VcpusTotal).cursor();
        let mut used = view.column(Figure::VcpusUsed).cursor();
        let mut ratio = view.ratios(Ratio::Cpu).cursor();
        for (host, slot) in hosts.iter().zip(out) {
            *slot = free(total.value(*host), ratio.value(*host), used.value(*host));
        }
        Ok(())
    }
}

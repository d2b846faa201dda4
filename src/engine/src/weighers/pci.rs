//! `PCIWeigher`: keeps hosts with PCI devices for those who need them.

use stowplan_config::WeightNormalization;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;
use crate::weigher::{Bounds, MultiplierRule, RawScore, Weigher};

/// What a host without devices gets.
const NONE: i64 = 100;

/// 100 - free PCI devices, down to 1. The request is not looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct PciWeigher;

impl Weigher for PciWeigher {
    fn name(&self) -> &'static str {
        "PCIWeigher"
    }

    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule {
        MultiplierRule {
            option: "filter_scheduler.pci_weight_multiplier",
            key: "pci_weight_multiplier",
            configured: config.scheduler.pci_weight_multiplier,
            negated: false,
        }
    }

    fn bounds(&self, _normalisation: WeightNormalization) -> Bounds {
        Bounds::NONE
    }

    fn prepare(
        &self,
        _cx: &RequestCx<'_>,
        _multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault> {
        Ok(Box::new(FewDevices))
    }
}

struct FewDevices;

fn score(devices: i64) -> f64 {
    (NONE - devices.min(NONE - 1)) as f64
}

impl RawScore for FewDevices {
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault> {
        Ok(score(view.pci_devices().value(host)))
    }

    fn fill(&self, view: &dyn HostView, hosts: &[HostIx], out: &mut [f64]) -> Result<(), Fault> {
        view.pci_devices().gather(hosts, out, score);
        Ok(())
    }
}

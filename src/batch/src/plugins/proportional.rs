//! Proportional check: cpu and memory are kept for the devices that are idle.

use crate::amounts::{Amounts, DimIx, Quantity};
use crate::plugins::{ArgumentFault, Arguments};
use crate::session::{HostVerdict, NodePredicate, Shape, State};
use crate::world::World;
use stowplan_engine::fault::Fault;
use stowplan_engine::{HostIx, HostSet};

/// Bytes per thousandth of a device and unit of the memory rate: gigabytes are
/// of 10^9 bytes.
const BYTES: f64 = 1e6;

/// What is kept per device of which kind.
#[derive(Clone, Debug)]
pub(super) struct Proportional {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    dimension: String,
    /// Cores per device.
    cores: f64,
    /// Gigabytes per device.
    gigabytes: f64,
}

impl Proportional {
    /// From three arguments: whether it is on (it is not by default), the names
    /// of the devices, and what stands before `<name>.cpu` and `<name>.memory`,
    /// the rates (1, also for a negative one). None when it is off.
    pub(super) fn new(
        arguments: &Arguments,
        [enable, devices, rates]: [&str; 3],
    ) -> Result<Option<Self>, ArgumentFault> {
        let rate = |name: &str, of: &str| -> Result<f64, ArgumentFault> {
            let rate = arguments.decimal(&format!("{rates}{name}.{of}"), 1.0)?;
            Ok(if rate < 0.0 { 1.0 } else { rate })
        };
        let rules = arguments.list(devices).map(|name| {
            let (cores, gigabytes) = (rate(name, "cpu")?, rate(name, "memory")?);
            Ok(Rule { dimension: name.to_owned(), cores, gigabytes })
        });
        let rules = rules.collect::<Result<_, ArgumentFault>>()?;
        Ok(arguments.switch(enable, false)?.then_some(Self { rules }))
    }
}

/// A task that asks for none of these devices leaves enough for those that do.
pub(super) struct ProportionalCheck {
    request: Amounts,
    /// Devices with what is kept of cpu and memory per unit that is idle.
    kept: Vec<(DimIx, f64, f64)>,
}

impl ProportionalCheck {
    /// For a shape; none when it asks for such a device itself, or no host has
    /// any.
    pub(super) fn new(rules: &Proportional, state: &State, shape: &Shape) -> Option<Self> {
        let dims = state.world.dims();
        let thousandths = |dim| dims.quantum(dim).quanta(Quantity::milli(1)) as f64;
        let bytes = dims.quantum(DimIx::MEMORY).quanta(Quantity::units(1)) as f64;
        let known = rules.rules.iter().filter_map(|rule| {
            let dim = dims.ix(&rule.dimension)?;
            let cpu = thousandths(dim) * rule.cores / thousandths(DimIx::CPU);
            let memory = thousandths(dim) * rule.gigabytes * BYTES / bytes;
            Some((dim, cpu, memory))
        });
        let kept: Vec<_> = known.collect();
        let asks = kept.iter().any(|(dim, ..)| shape.request.get(*dim) > 0);
        (!asks && !kept.is_empty()).then(|| Self { request: shape.request.clone(), kept })
    }

    fn takes_too_much(&self, world: &World, host: HostIx) -> bool {
        let left = |dim| (world.idle(dim, host) - self.request.get(dim)) as f64;
        let (cpu, memory) = (left(DimIx::CPU), left(DimIx::MEMORY));
        self.kept.iter().any(|(dim, per_cpu, per_memory)| {
            let idle = world.idle(*dim, host) as f64;
            idle > 0.0 && (cpu < idle * per_cpu || memory < idle * per_memory)
        })
    }
}

impl NodePredicate for ProportionalCheck {
    fn narrow(&self, _world: &World, _hosts: &mut HostSet) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        let fails = self.takes_too_much(&state.world, host);
        Ok(if fails { HostVerdict::Unresolvable } else { HostVerdict::Passes })
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        let fails = self.takes_too_much(&state.world, host);
        Ok(fails.then(|| "keep cpu and memory for their devices".to_owned()))
    }
}

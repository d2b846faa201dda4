//! How much hosts really do, as their reports say.

mod estimate;
mod rescheduling;
mod usage;

pub use rescheduling::Rescheduling;
pub use usage::Usage;

use super::{ArgumentFault, Arguments};
use crate::amounts::DimIx;
use crate::session::State;
use stowplan_engine::{Figure, HostIx, HostView};
use stowplan_model::Micros;

/// A report older than this says nothing of the present.
const FRESH: i64 = 5 * 60 * Micros::PER_SECOND;

/// The dimensions that are measured.
const MEASURED: [DimIx; 2] = [DimIx::CPU, DimIx::MEMORY];

/// Which metrics of hosts say how much they do, in hundredths: of cpu and of
/// memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Metrics {
    names: [String; 2],
}

/// What a host does, in hundredths: of cpu and of memory.
type Load = [f64; 2];

impl Metrics {
    /// From the arguments `metrics.cpu` (cpu.percent) and `metrics.memory`
    /// (memory.percent).
    ///
    /// # Errors
    /// A metric without a name.
    fn new(arguments: &Arguments) -> Result<Self, ArgumentFault> {
        let name = |argument: &str, default: &str| match arguments.text(argument) {
            Some("") => Err(arguments.fault(argument, "the name of a metric that hosts report")),
            given => Ok(given.unwrap_or(default).to_owned()),
        };
        let names =
            [name("metrics.cpu", "cpu.percent")?, name("metrics.memory", "memory.percent")?];
        Ok(Self { names })
    }

    /// What a host does; none where it has not reported lately, or neither of
    /// the two. One that it does not report counts as 0.
    fn of(&self, state: &State, host: HostIx) -> Option<Load> {
        let seen = Micros(state.world.figure(Figure::AliveSince, host));
        if state.now.since(seen) > FRESH {
            return None;
        }
        let known = state.world.facts(host).metrics.as_ref()?;
        let value = |name: &String| {
            let metric = known.iter().find(|metric| metric.name == *name);
            metric.map(|metric| metric.value as f64)
        };
        let values = [value(&self.names[0]), value(&self.names[1])];
        let any = values.iter().any(Option::is_some);
        any.then(|| values.map(Option::unwrap_or_default))
    }
}

//! `predicates`: which hosts a task may go to at all.

mod filters;
mod host;
mod ports;

use super::affinity::{Kinds, TaskCheck};
use super::proportional::{Proportional, ProportionalCheck};
use super::{PluginFault, Setup};
use crate::session::{NodePredicate, Plugin, Point, ShapeIx, State};
use filters::EngineCheck;
use host::HostCheck;
use ports::PortCheck;
use stowplan_engine::config::EngineConfig;
use stowplan_engine::fault::Fault;
use stowplan_engine::filter::Filter;
use stowplan_engine::registry;

/// The arguments of the proportional check.
const PROPORTIONAL: [&str; 3] =
    ["predicate.ProportionalEnable", "predicate.resources", "predicate.resources."];

/// Switches of the peer that have nothing to switch here: volumes are no part
/// of batch tasks, and what is known of a shape is always kept.
const WITHOUT_EFFECT: [&str; 4] = [
    "predicate.CacheEnable",
    "predicate.NodeVolumeLimitsEnable",
    "predicate.VolumeZoneEnable",
    "predicate.VolumeBindingEnable",
];

/// The argument that names the engine's filters.
const FILTERS: &str = "filters";

/// A host must take batch tasks and have a place left, carry the labels that
/// the task selects by, and have no taint that the task does not tolerate; its
/// ports must be free, tasks near must suit, and the engine's own filters must
/// let it pass (its service is enabled and alive).
///
/// All that no step of a session can change is looked at once per shape and
/// cycle, so `predicate.CacheEnable` has nothing left to switch.
pub struct Predicates {
    engine: EngineConfig,
    filters: Vec<Box<dyn Filter>>,
    on: Switches,
    proportional: Option<Proportional>,
}

/// Which parts are looked at.
#[derive(Clone, Copy, Debug)]
struct Switches {
    affinity: bool,
    ports: bool,
    taints: bool,
    tasks: bool,
    spread: bool,
}

impl Predicates {
    /// With the engine's filters of `[batch:predicates] filters`; if none are
    /// given, ComputeFilter alone, for the others look at what only virtual
    /// machines have. The `predicate.*Enable` switches are the peer's.
    ///
    /// # Errors
    /// A name that no filter has, or an argument that is not of its kind.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        let mut names: Vec<String> = arguments.list(FILTERS).map(str::to_owned).collect();
        if arguments.text(FILTERS).is_none() {
            names.push("ComputeFilter".to_owned());
        }
        let filters = registry::filters(&names)
            .map_err(|error| arguments.fault(FILTERS, &error.to_string()))?;
        let on = Switches {
            affinity: arguments.switch("predicate.NodeAffinityEnable", true)?,
            ports: arguments.switch("predicate.NodePortsEnable", true)?,
            taints: arguments.switch("predicate.TaintTolerationEnable", true)?,
            tasks: arguments.switch("predicate.PodAffinityEnable", true)?,
            spread: arguments.switch("predicate.PodTopologySpreadEnable", true)?,
        };
        for name in WITHOUT_EFFECT {
            arguments.switch(name, true)?;
        }
        let proportional = Proportional::new(arguments, PROPORTIONAL)?;
        Ok(Self { engine: setup.engine.clone(), filters, on, proportional })
    }
}

impl Plugin for Predicates {
    fn name(&self) -> &'static str {
        "predicates"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Predicate]
    }

    fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let shape = &state[shape];
        let (affinity, taints) = (self.on.affinity, self.on.taints);
        let mut all: Vec<Box<dyn NodePredicate>> = vec![
            Box::new(EngineCheck::new(&self.filters, &self.engine, state)?),
            Box::new(HostCheck { shape: shape.clone(), affinity, taints }),
        ];
        if let Some(check) = PortCheck::new(shape).filter(|_| self.on.ports) {
            all.push(Box::new(check));
        }
        let kinds = Kinds { affinity: self.on.tasks, spread: self.on.spread };
        if let Some(check) = TaskCheck::new(state, shape, kinds) {
            all.push(Box::new(check));
        }
        let proportional = self.proportional.as_ref();
        if let Some(check) =
            proportional.and_then(|rules| ProportionalCheck::new(rules, state, shape))
        {
            all.push(Box::new(check));
        }
        Ok(all)
    }
}

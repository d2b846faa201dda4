//! `usage`: hosts that do much get no more, those that do little come first.

use super::estimate::{Estimates, Estimator, Weights};
use super::{Load, Metrics};
use crate::plugins::{PluginFault, Setup};
use crate::session::{
    HostVerdict, NodePredicate, Plugin, Point, Score, Shape, ShapeIx, State, TaskIx,
};
use crate::world::World;
use std::sync::Arc;
use stowplan_engine::fault::Fault;
use stowplan_engine::weigher::LocalScore;
use stowplan_engine::{HostIx, HostSet, HostView};

/// The best score before the weight.
const MAX_SCORE: f64 = 100.0;

/// Keeps tasks off hosts whose measured load is above a threshold, and scores
/// the others by what is idle of them, with an estimate for tasks that metrics
/// do not show yet.
#[derive(Clone, Debug)]
pub struct Usage {
    metrics: Metrics,
    estimator: Estimator,
    weight: i64,
    weights: Weights,
    /// The most that a host may do, in hundredths.
    thresholds: Load,
    /// By host; none where nothing lately measured is known.
    loads: Arc<Vec<Option<Load>>>,
    estimates: Estimates,
}

impl Usage {
    /// With `[batch:usage] usage.weight` (5), `cpu.weight`, `memory.weight` (1),
    /// `thresholds.cpu`, `.mem` (80), `estimator.*` and `metrics.*`.
    ///
    /// # Errors
    /// An argument that is not of its kind or out of its bounds.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        let threshold = |name: &str| arguments.bounded(name, 80.0, (0.0, 100.0));
        let weight = |name: &str| arguments.weight(name, 1).map(|weight| weight as f64);
        Ok(Self {
            metrics: Metrics::new(arguments)?,
            estimator: Estimator::new(arguments)?,
            weight: arguments.weight("usage.weight", 5)?,
            weights: Weights([weight("cpu.weight")?, weight("memory.weight")?]),
            thresholds: [threshold("thresholds.cpu")?, threshold("thresholds.mem")?],
            loads: Arc::default(),
            estimates: Estimates::default(),
        })
    }

    fn load(&self, host: HostIx) -> Option<Load> {
        self.loads.get(host.index()).copied().flatten()
    }
}

impl Plugin for Usage {
    fn name(&self) -> &'static str {
        "usage"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Predicate, Point::NodeOrder]
    }

    fn open(&mut self, state: &State) {
        let mut loads = vec![None; state.world.slots()];
        for &host in state.world.order() {
            if let Some(slot) = loads.get_mut(host.index()) {
                *slot = self.metrics.of(state, host);
            }
        }
        self.estimates = Estimates::new(state, &self.estimator, &loads, self.weights);
        self.loads = Arc::new(loads);
    }

    fn predicates(&self, _: &State, _: ShapeIx) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let check = LoadCheck { loads: self.loads.clone(), thresholds: self.thresholds };
        Ok(vec![Box::new(check)])
    }

    fn score(&self) -> Option<&Score> {
        (self.weight > 0).then_some(self as &Score)
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        // One that stays after all may show in the metrics already.
        if self.estimator.is_hidden(state, task) {
            self.estimates.add(state, &self.estimator, &self.loads, self.weights, task);
        }
    }

    fn deallocated(&mut self, _: &State, task: TaskIx) {
        self.estimates.remove(task);
    }

    fn audit(&self, state: &State) -> Option<String> {
        self.estimates.audit(state, &self.estimator)
    }
}

impl LocalScore<World, Shape> for Usage {
    fn name(&self) -> &'static str {
        "usage"
    }

    fn score(&self, world: &World, host: HostIx, _: &Shape) -> f64 {
        let Some(measured) = self.load(host) else { return 0.0 };
        let idle = self.estimates.composite(world, host, measured).map(|part| 1.0 - part);
        self.weights.mean(idle) * MAX_SCORE * self.weight as f64
    }
}

/// Whether a host does too much already.
struct LoadCheck {
    loads: Arc<Vec<Option<Load>>>,
    thresholds: Load,
}

impl LoadCheck {
    fn fails(&self, host: HostIx) -> Option<String> {
        let load = self.loads.get(host.index()).copied().flatten()?;
        let kinds = ["cpu", "memory"].into_iter().zip(load).zip(self.thresholds);
        let over = |((kind, load), most): ((&str, f64), f64)| {
            (load > most).then(|| format!("have a {kind} load above {most} %"))
        };
        kinds.into_iter().find_map(over)
    }
}

impl NodePredicate for LoadCheck {
    fn narrow(&self, _: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        hosts.retain(|host| self.fails(host).is_none());
        Ok(())
    }

    fn judge(&self, _: &State, _: HostIx) -> Result<HostVerdict, Fault> {
        Ok(HostVerdict::Passes)
    }

    fn objection(&self, _: &State, host: HostIx) -> Result<Option<String>, Fault> {
        Ok(self.fails(host))
    }
}

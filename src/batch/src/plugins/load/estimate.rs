//! What tasks will do that no measurement shows yet.

use super::{Load, MEASURED};
use crate::amounts::{Dims, Quantity};
use crate::plugins::{ArgumentFault, Arguments};
use crate::session::{State, Status, TaskIx};
use crate::world::{Kind, World};
use foldhash::{HashMap, HashMapExt};
use std::collections::BTreeMap;
use stowplan_engine::{HostIx, HostView};

/// How much of its request a task is expected to use.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    request_ratio: f64,
    risk_threshold: f64,
    risk_factor: f64,
    /// What a best-effort task is taken to use.
    best_effort: [Quantity; 2],
    /// How long it takes until a task shows in the metrics, in microseconds.
    interval: i64,
}

/// The parts of two kinds of load in one figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights(pub(super) [f64; 2]);

impl Weights {
    /// The weighted mean; 0 without weights.
    pub(super) fn mean(self, values: Load) -> f64 {
        let sum: f64 = self.0.iter().sum();
        let all: f64 = self.0.iter().zip(values).map(|(weight, value)| weight * value).sum();
        if sum == 0.0 { 0.0 } else { all / sum }
    }
}

impl Estimator {
    /// From the arguments `estimator.*` and `metrics.interval`.
    ///
    /// # Errors
    /// A number out of its bounds, a quantity or duration that is none.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, ArgumentFault> {
        let part = (0.0, 1.0);
        let quantity = |name: &str, default: &str| {
            let text = arguments.text(name).unwrap_or(default);
            text.parse().map_err(|_| arguments.fault(name, "a quantity such as 250m or 200Mi"))
        };
        // What a task may use beyond its request is not known: there are no
        // limits apart from requests.
        arguments.bounded("estimator.burst_ratio", 0.0, part)?;
        Ok(Self {
            request_ratio: arguments.bounded("estimator.request_ratio", 0.7, part)?,
            risk_threshold: arguments.bounded("estimator.risk_threshold", 0.6, part)?,
            risk_factor: arguments.bounded("estimator.risk_factor", 1.2, (1.0, f64::INFINITY))?,
            best_effort: [
                quantity("estimator.be_cpu", "250m")?,
                quantity("estimator.be_mem", "200Mi")?,
            ],
            interval: arguments.duration("metrics.interval", 30_000_000)?,
        })
    }

    /// Whether the metrics do not show a task yet, or it is still to come.
    pub(super) fn is_hidden(&self, state: &State, task: TaskIx) -> bool {
        let at = &state[task];
        match at.status {
            Status::Allocated | Status::Pipelined | Status::Binding | Status::Bound => true,
            Status::Running => {
                at.started.is_none_or(|started| state.now.since(started) < self.interval)
            }
            _ => false,
        }
    }

    /// What a task will use on a host that is loaded so much, in parts of one.
    fn estimate(&self, state: &State, task: TaskIx, load: f64) -> Load {
        let shape = state.shape_of(task);
        let factor = if load >= self.risk_threshold { self.risk_factor } else { 1.0 };
        let dims: &Dims = state.world.dims();
        let mut estimate = [0.0; 2];
        for ((slot, dim), quantity) in estimate.iter_mut().zip(MEASURED).zip(self.best_effort) {
            *slot = if shape.is_best_effort() {
                quantity.quanta(dims.quantum(dim)) as f64 * factor
            } else {
                let request = shape.request.get(dim) as f64;
                (request * self.request_ratio * factor).min(request)
            };
        }
        estimate
    }
}

/// The estimates of all tasks on hosts that metrics do not show yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimates {
    by_host: Vec<Load>,
    /// What was added for a task, so that the very same is taken out again.
    by_task: HashMap<TaskIx, (HostIx, Load)>,
}

impl Estimates {
    /// Of the tasks that are there when a session begins.
    pub(super) fn new(
        state: &State,
        estimator: &Estimator,
        loads: &[Option<Load>],
        weights: Weights,
    ) -> Self {
        let by_host = vec![[0.0; 2]; state.world.slots()];
        let mut all = Self { by_host, by_task: HashMap::new() };
        for task in state.jobs().flat_map(|job| state[job].tasks.iter().copied()) {
            if estimator.is_hidden(state, task) {
                all.add(state, estimator, loads, weights, task);
            }
        }
        all
    }

    /// Adds a task on its host.
    pub(super) fn add(
        &mut self,
        state: &State,
        estimator: &Estimator,
        loads: &[Option<Load>],
        weights: Weights,
        task: TaskIx,
    ) {
        let Some(host) = state[task].host else { return };
        let measured = loads.get(host.index()).copied().flatten().unwrap_or_default();
        let load = weights.mean(self.composite(&state.world, host, measured));
        let estimate = estimator.estimate(state, task, load);
        if let Some(sum) = self.by_host.get_mut(host.index()) {
            sum.iter_mut().zip(estimate).for_each(|(sum, part)| *sum += part);
            self.by_task.insert(task, (host, estimate));
        }
    }

    /// Takes a task out.
    pub(super) fn remove(&mut self, task: TaskIx) {
        let Some((host, estimate)) = self.by_task.remove(&task) else { return };
        if let Some(sum) = self.by_host.get_mut(host.index()) {
            sum.iter_mut().zip(estimate).for_each(|(sum, part)| *sum -= part);
        }
    }

    /// What differs from counting afresh, in words. What was added for a task
    /// depends on what its host did then, so only tasks and sums are compared.
    pub(super) fn audit(&self, state: &State, estimator: &Estimator) -> Option<String> {
        let all = state.jobs().flat_map(|job| state[job].tasks.iter().copied());
        let hidden = all.filter(|task| estimator.is_hidden(state, *task));
        let fresh: BTreeMap<TaskIx, HostIx> =
            hidden.filter_map(|task| Some((task, state[task].host?))).collect();
        let kept: BTreeMap<TaskIx, HostIx> =
            self.by_task.iter().map(|(task, (host, _))| (*task, *host)).collect();
        if kept != fresh {
            return Some(format!("estimates are kept of {kept:?} and not of {fresh:?}"));
        }
        let mut sums = vec![[0.0; 2]; self.by_host.len()];
        for (host, estimate) in self.by_task.values() {
            let sum = sums.get_mut(host.index())?;
            sum.iter_mut().zip(estimate).for_each(|(sum, part)| *sum += part);
        }
        // Sums of decimals depend on their order.
        let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()));
        let mut hosts = self.by_host.iter().zip(&sums);
        let (was, is) = hosts.find(|(was, is)| !was.iter().zip(*is).all(|(a, b)| near(a, b)))?;
        Some(format!("tasks on a host are estimated at {is:?} and not {was:?}"))
    }

    /// What a host does and will do, in parts of one.
    pub(super) fn composite(&self, world: &World, host: HostIx, measured: Load) -> Load {
        let estimates = self.by_host.get(host.index()).copied().unwrap_or_default();
        let mut parts = [0.0; 2];
        for (at, dim) in MEASURED.into_iter().enumerate() {
            let all = world.amount(Kind::Allocatable, dim, host) as f64;
            if all > 0.0 {
                parts[at] = (measured[at] / 100.0 + estimates[at] / all).clamp(0.0, 1.0);
            }
        }
        parts
    }
}

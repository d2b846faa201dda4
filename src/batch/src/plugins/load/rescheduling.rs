//! `rescheduling`: tasks of hosts that do much move to hosts that do little.

use super::{Load, MEASURED, Metrics};
use crate::plugins::{ArgumentFault, Arguments, PluginFault, Setup};
use crate::session::{Plugin, Point, State, TaskIx};
use crate::world::Kind;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use stowplan_engine::table::StateFlags;
use stowplan_engine::{Figure, HostIx, HostView};
use stowplan_model::Micros;

const STRATEGIES: &str = "strategies";
/// The strategy there is.
const LOW_NODE_UTILIZATION: &str = "lowNodeUtilization";
/// The time between two looks.
const INTERVAL: i64 = 5 * 60 * Micros::PER_SECOND;

/// Names tasks of hosts above their target, the busiest host first, as long as
/// there are hosts below a threshold that could take them.
#[derive(Clone, Debug)]
pub struct Rescheduling {
    metrics: Metrics,
    interval: i64,
    /// Hosts below this in every measure can take more, in hundredths.
    thresholds: Load,
    /// Hosts above this in any measure have too much.
    targets: Load,
}

/// A strategy as the peer writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Strategy {
    name: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Params {
    thresholds: BTreeMap<String, f64>,
    target_thresholds: BTreeMap<String, f64>,
}

impl Rescheduling {
    /// With `[batch:rescheduling] interval` (5m), `strategies` (JSON) and
    /// `metrics.*`.
    ///
    /// # Errors
    /// A strategy that does not exist or cannot be read, no duration, a
    /// threshold that is none.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        let params = params(arguments)?;
        let load = |given: &BTreeMap<String, f64>| load(arguments, given);
        Ok(Self {
            metrics: Metrics::new(arguments)?,
            interval: arguments.duration("interval", INTERVAL)?,
            thresholds: load(&params.thresholds)?,
            targets: load(&params.target_thresholds)?,
        })
    }

    fn is_above_target(&self, load: Load) -> bool {
        load.iter().zip(self.targets).any(|(load, target)| *load > target)
    }

    fn is_low(&self, load: Load) -> bool {
        load.iter().zip(self.thresholds).all(|(load, threshold)| *load < threshold)
    }
}

fn params(arguments: &Arguments) -> Result<Params, ArgumentFault> {
    let Some(text) = arguments.text(STRATEGIES) else { return Ok(Params::default()) };
    let expected = r#"a JSON list such as [{"name": "lowNodeUtilization", "params": {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 70}}}]"#;
    let all: Vec<Strategy> =
        serde_json::from_str(text).map_err(|_| arguments.fault(STRATEGIES, expected))?;
    match <[Strategy; 1]>::try_from(all) {
        Ok([Strategy { name, params }]) if name == LOW_NODE_UTILIZATION => Ok(params),
        _ => Err(arguments.fault(STRATEGIES, "one strategy, lowNodeUtilization")),
    }
}

/// Thresholds of cpu and memory; 100 where none is given.
fn load(arguments: &Arguments, given: &BTreeMap<String, f64>) -> Result<Load, ArgumentFault> {
    let known = |name: &String| matches!(name.as_str(), "cpu" | "memory");
    let fits = |value: &f64| (0.0..=100.0).contains(value);
    if !given.keys().all(known) || !given.values().all(fits) {
        return Err(arguments.fault(STRATEGIES, "thresholds of cpu and memory from 0 to 100"));
    }
    Ok(["cpu", "memory"].map(|name| given.get(name).copied().unwrap_or(100.0)))
}

/// What hosts with room can take in all.
struct Room {
    hosts: Vec<HostIx>,
    left: Load,
}

impl Room {
    /// Whether a task would find room, and there is some of everything.
    fn takes(&self, state: &State, task: TaskIx) -> bool {
        let shape = state.shape_of(task);
        let enough = MEASURED.iter().zip(self.left);
        let mut enough =
            enough.map(|(dim, left)| left > 0.0 && shape.request.get(*dim) as f64 <= left);
        enough.all(|enough| enough)
            && self.hosts.iter().any(|host| state.world.fits_idle(*host, shape.ask()))
    }
}

impl Plugin for Rescheduling {
    fn name(&self) -> &'static str {
        "rescheduling"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::VictimTasks]
    }

    fn victim_period(&self) -> Option<i64> {
        Some(self.interval)
    }

    fn victim_tasks(&mut self, state: &State, running: &[TaskIx]) -> Vec<TaskIx> {
        let world = &state.world;
        let all = |dim, host| world.amount(Kind::Allocatable, dim, host) as f64;
        let mut room = Room { hosts: Vec::new(), left: [0.0; 2] };
        let mut busy: Vec<(HostIx, Load)> = Vec::new();
        for &host in world.order() {
            let Some(load) = self.metrics.of(state, host) else { continue };
            let closed = world.figure(Figure::StateFlags, host) & StateFlags::UNSCHEDULABLE != 0;
            if !closed && self.is_low(load) {
                room.hosts.push(host);
                for (at, dim) in MEASURED.into_iter().enumerate() {
                    room.left[at] += (self.targets[at] - load[at]) / 100.0 * all(dim, host);
                }
            } else if self.is_above_target(load) {
                busy.push((host, load));
            }
        }
        // The busiest first; the order of names stays among equals.
        busy.sort_by(|a, b| b.1.iter().sum::<f64>().total_cmp(&a.1.iter().sum()));
        let mut victims = Vec::new();
        for (host, mut load) in busy {
            let on_host = running.iter().copied().filter(|task| state[*task].host == Some(host));
            let mut tasks: Vec<TaskIx> = on_host.filter(|task| state[*task].preemptable).collect();
            tasks.sort_by_key(|task| {
                let at = &state[*task];
                (at.priority, Reverse(state.shape_of(*task).is_best_effort()), at.uuid)
            });
            for task in tasks {
                if !self.is_above_target(load) {
                    break;
                }
                if !room.takes(state, task) {
                    continue;
                }
                for (at, dim) in MEASURED.into_iter().enumerate() {
                    let request = state.shape_of(task).request.get(dim) as f64;
                    room.left[at] -= request;
                    load[at] -= 100.0 * request / all(dim, host).max(1.0);
                }
                victims.push(task);
            }
        }
        victims
    }
}

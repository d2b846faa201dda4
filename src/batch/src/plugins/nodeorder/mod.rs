//! `nodeorder`: hosts scored as Kubernetes does, all in whole numbers.

mod labels;
mod resources;

use super::affinity::{AffinityScore, SpreadScore};
use super::{PluginFault, Setup};
use crate::session::{Plugin, Point, Score, SetScore, Shape, ShapeIx, State};
use crate::world::World;
use labels::{PreferredHosts, TaintScore};
use resources::{balanced, least, most};
use stowplan_engine::HostIx;
use stowplan_engine::weigher::LocalScore;

/// The weighted sum of scores of 0 to 100 each: how empty, how full, how evenly
/// used a host would be, which hosts the task prefers, and whom it would meet.
#[derive(Clone, Debug)]
pub struct NodeOrder {
    least: i64,
    most: i64,
    balanced: i64,
    node_affinity: i64,
    task_affinity: i64,
    taints: i64,
    spread: i64,
}

impl NodeOrder {
    /// With the weights of `[batch:nodeorder]`, the peer's names and defaults.
    ///
    /// # Errors
    /// A weight that is no whole number.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let weight = |name: &str, default| setup.arguments.number(name, default);
        // No host tells which images it has, so that weight changes nothing.
        weight("imagelocality.weight", 1)?;
        Ok(Self {
            least: weight("leastrequested.weight", 1)?,
            most: weight("mostrequested.weight", 0)?,
            balanced: weight("balancedresource.weight", 1)?,
            node_affinity: weight("nodeaffinity.weight", 2)?,
            task_affinity: weight("podaffinity.weight", 2)?,
            taints: weight("tainttoleration.weight", 3)?,
            spread: weight("podtopologyspread.weight", 2)?,
        })
    }
}

impl Plugin for NodeOrder {
    fn name(&self) -> &'static str {
        "nodeorder"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::NodeOrder]
    }

    fn score(&self) -> Option<&Score> {
        Some(self)
    }

    fn set_scores(&self, state: &State, shape: ShapeIx) -> Vec<Box<dyn SetScore>> {
        let shape = &state[shape];
        let mut all: Vec<Box<dyn SetScore>> = Vec::new();
        if let Some(score) = PreferredHosts::new(shape, self.node_affinity as f64) {
            all.push(Box::new(score));
        }
        if let Some(score) = TaintScore::new(state, shape, self.taints as f64) {
            all.push(Box::new(score));
        }
        if let Some(score) = AffinityScore::new(state, shape, self.task_affinity as f64) {
            all.push(Box::new(score));
        }
        if let Some(score) = SpreadScore::new(shape, self.spread as f64) {
            all.push(Box::new(score));
        }
        all
    }
}

impl LocalScore<World, Shape> for NodeOrder {
    fn name(&self) -> &'static str {
        "nodeorder"
    }

    fn score(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let mut score = 0;
        if self.least != 0 {
            score += self.least * least(world, host, shape);
        }
        if self.most != 0 {
            score += self.most * most(world, host, shape);
        }
        if self.balanced != 0 {
            score += self.balanced * balanced(world, host, shape);
        }
        score as f64
    }
}

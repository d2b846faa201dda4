//! `binpack`: the fuller host first.

use super::{PluginFault, Setup};
use crate::amounts::DimIx;
use crate::session::{Plugin, Point, Score, Shape};
use crate::world::{Kind, World};
use std::collections::BTreeMap;
use stowplan_engine::HostIx;
use stowplan_engine::weigher::LocalScore;

/// The best score of a host, before `binpack.weight`.
const MAX_SCORE: f64 = 100.0;

/// Scores a host by how full the request would make it: the weighted mean, over
/// the dimensions that are asked for, of (request + used) / allocatable. A host
/// that would be over its amount in one of them scores 0.
#[derive(Clone, Debug)]
pub struct Binpack {
    weight: f64,
    /// Weights by name of the dimension; others do not count.
    weights: BTreeMap<String, i64>,
}

impl Binpack {
    /// With the weights of `[batch:binpack]`: `binpack.weight`, `binpack.cpu`,
    /// `binpack.memory`, and `binpack.resources.<name>` for the names listed in
    /// `binpack.resources`; 1 where nothing or a negative number is given.
    ///
    /// # Errors
    /// A weight that is no whole number.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        let weight = |name: &str| -> Result<i64, PluginFault> {
            let weight = arguments.number(name, 1)?;
            Ok(if weight < 0 { 1 } else { weight })
        };
        let mut weights = BTreeMap::new();
        for dimension in ["cpu", "memory"] {
            weights.insert(dimension.to_owned(), weight(&format!("binpack.{dimension}"))?);
        }
        for name in arguments.list("binpack.resources") {
            weights.insert(name.to_owned(), weight(&format!("binpack.resources.{name}"))?);
        }
        Ok(Self { weight: weight("binpack.weight")? as f64, weights })
    }

    fn weight_of(&self, world: &World, dim: DimIx) -> i64 {
        self.weights.get(world.dims().name(dim)).copied().unwrap_or_default()
    }
}

impl Plugin for Binpack {
    fn name(&self) -> &'static str {
        "binpack"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::NodeOrder]
    }

    fn score(&self) -> Option<&Score> {
        (self.weight > 0.0).then_some(self as &Score)
    }
}

impl LocalScore<World, Shape> for Binpack {
    fn name(&self) -> &'static str {
        "binpack"
    }

    fn score(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let (mut sum, mut weights) = (0.0, 0);
        for (dim, request) in shape.request.positive() {
            let weight = self.weight_of(world, dim);
            if weight == 0 {
                continue;
            }
            weights += weight;
            let allocatable = world.amount(Kind::Allocatable, dim, host);
            let filled = request + world.amount(Kind::Used, dim, host);
            if allocatable == 0 {
                continue;
            }
            if filled > allocatable {
                return 0.0;
            }
            sum += weight as f64 * filled as f64 / allocatable as f64;
        }
        if weights == 0 { 0.0 } else { MAX_SCORE * self.weight * sum / weights as f64 }
    }
}

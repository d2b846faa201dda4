//! `deviceshare`: devices that are shared are filled up, or spread over.

use super::{ArgumentFault, Arguments, PluginFault, Setup};
use crate::session::{Plugin, Point, Score, Shape};
use crate::world::World;
use stowplan_engine::HostIx;
use stowplan_engine::weigher::LocalScore;

const POLICY: &str = "deviceshare.SchedulePolicy";
const WEIGHT: &str = "deviceshare.ScheduleWeight";
/// The best score before the weight.
const MAX_SCORE: f64 = 100.0;

/// Which hosts are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// Those whose devices would be fuller.
    Binpack,
    /// Those whose devices would be emptier.
    Spread,
}

/// Scores hosts by how full the devices would be that a task would take there.
/// Which devices it takes on a host is no matter of policy: of those that
/// suffice the fullest (rule 4).
#[derive(Clone, Copy, Debug)]
pub struct DeviceShare {
    policy: Option<Policy>,
    weight: i64,
}

impl DeviceShare {
    /// With `[batch:deviceshare] deviceshare.SchedulePolicy` (binpack or spread;
    /// none: no score) and `deviceshare.ScheduleWeight` (0).
    ///
    /// # Errors
    /// Another policy, or a weight that is no whole number of 0 or more.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        Ok(Self { policy: policy(arguments)?, weight: arguments.weight(WEIGHT, 0)? })
    }
}

fn policy(arguments: &Arguments) -> Result<Option<Policy>, ArgumentFault> {
    match arguments.text(POLICY) {
        None | Some("") => Ok(None),
        Some("binpack") => Ok(Some(Policy::Binpack)),
        Some("spread") => Ok(Some(Policy::Spread)),
        Some(_) => Err(arguments.fault(POLICY, "binpack or spread")),
    }
}

impl Plugin for DeviceShare {
    fn name(&self) -> &'static str {
        "deviceshare"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::NodeOrder]
    }

    fn score(&self) -> Option<&Score> {
        (self.policy.is_some() && self.weight > 0).then_some(self as &Score)
    }
}

impl LocalScore<World, Shape> for DeviceShare {
    fn name(&self) -> &'static str {
        "deviceshare"
    }

    fn score(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let Some(filled) = world.device_fill(host, shape.ask()) else { return 0.0 };
        let part = match self.policy {
            Some(Policy::Binpack) => filled,
            Some(Policy::Spread) => 1.0 - filled,
            None => 0.0,
        };
        part * MAX_SCORE * self.weight as f64
    }
}

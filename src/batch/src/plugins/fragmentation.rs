//! `fragmentation`: the host of which least is made useless for others.

use super::{PluginFault, Setup};
use crate::fragment::{Experience, Options, Outlook};
use crate::session::{Plugin, Point, Score, Shape, State};
use crate::world::World;
use std::sync::OnceLock;
use stowplan_engine::HostIx;
use stowplan_engine::weigher::LocalScore;

/// The best score of a host, before `fragmentation.weight`.
const MAX_SCORE: f64 = 100.0;

/// How fast scores fall: a task that wastes as much as it takes scores an eighth
/// of the best.
const STEEPNESS: f64 = 2.0;

/// Scores a host by how much of it a request would waste, with the engine's bid
/// prices ([`stowplan_engine::fragment`]): half of the best score where it wastes
/// nothing, more where it takes what is of little use to others, less where
/// others will miss it.
///
/// Which requests are to be expected is learnt from the tasks that have arrived.
/// What was learnt comes with the state ([`State::experience`]); a session that
/// is given nothing learns from its own tasks.
pub struct Fragmentation {
    weight: f64,
    options: Options,
    experience: Experience,
    /// Prices for this session, made when they are first asked for.
    outlook: OnceLock<Outlook>,
}

impl Fragmentation {
    /// With `fragmentation.weight`, `fragmentation.resources` (dimensions that come
    /// as devices) and `fragmentation.core`, what a core of a host without devices
    /// is worth beside a device of 1000.
    ///
    /// # Errors
    /// A number that is none, or below 0.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        let positive = |name: &str, default: f64| {
            let number = arguments.decimal(name, default)?;
            let fault = || arguments.fault(name, "a number from 0 on");
            (number >= 0.0).then_some(number).ok_or_else(fault)
        };
        let listed = || arguments.list("fragmentation.resources").map(str::to_owned).collect();
        let resources = arguments.text("fragmentation.resources").map(|_| listed());
        Ok(Self {
            weight: positive("fragmentation.weight", 1.0)?,
            options: Options { resources, core: positive("fragmentation.core", 1.0)? },
            experience: Experience::default(),
            outlook: OnceLock::new(),
        })
    }
}

impl Plugin for Fragmentation {
    fn name(&self) -> &'static str {
        "fragmentation"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::NodeOrder]
    }

    fn open(&mut self, state: &State) {
        self.experience = state.experience.clone();
        self.experience.observe(state);
        self.outlook = OnceLock::new();
    }

    fn score(&self) -> Option<&Score> {
        (self.weight > 0.0).then_some(self as &Score)
    }
}

impl LocalScore<World, Shape> for Fragmentation {
    fn name(&self) -> &'static str {
        "fragmentation"
    }

    fn score(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let outlook = self.outlook.get_or_init(|| self.experience.outlook(world, &self.options));
        let waste = outlook.waste(world, host, shape);
        self.weight * MAX_SCORE / (1.0 + (STEEPNESS * waste).exp())
    }
}

//! The plugins, one file each, and the table that names them.

mod arguments;
mod binpack;
mod drf;
mod gang;
mod predicates;
mod priority;

use crate::registry::{Named, UnknownName, find};
use crate::session::{Plugin, Point, Seat, Tiers};
pub use arguments::{ArgumentFault, Arguments};
pub use binpack::Binpack;
pub use drf::Drf;
pub use gang::Gang;
pub use predicates::Predicates;
pub use priority::Priority;
use std::collections::BTreeMap;
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;

/// What plugins are made from.
pub struct Setup<'a> {
    /// The settings that the engine's filters read.
    pub engine: &'a EngineConfig,
    /// What `[batch:<plugin>]` says.
    pub arguments: Arguments,
}

type Make = fn(&Setup<'_>) -> Result<Box<dyn Plugin>, PluginFault>;

/// The plugins there are.
const PLUGINS: &[Named<Make>] = &[
    Named { name: "priority", make: |_| Ok(Box::new(Priority)) },
    Named { name: "gang", make: |_| Ok(Box::new(Gang)) },
    Named { name: "drf", make: |_| Ok(Box::new(Drf::default())) },
    Named { name: "predicates", make: |setup| Ok(Box::new(Predicates::new(setup)?)) },
    Named { name: "binpack", make: |setup| Ok(Box::new(Binpack::new(setup)?)) },
];

/// Why plugins cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginFault {
    /// A name that no plugin has.
    #[error("[batch] tiers: {0}")]
    Unknown(#[from] UnknownName),
    /// An argument that cannot be used.
    #[error(transparent)]
    Argument(#[from] ArgumentFault),
}

/// The plugins of `[batch] tiers` with their arguments and switches.
///
/// # Errors
/// A name that no plugin has, or an argument that cannot be used.
pub fn tiers(settings: &Settings, engine: &EngineConfig) -> Result<Tiers, PluginFault> {
    let none = BTreeMap::new();
    let seat = |name: &String| -> Result<Seat, PluginFault> {
        let entry = find("plugin", PLUGINS, name)?;
        let given = settings.batch_plugins.get(name).unwrap_or(&none);
        let setup = Setup { engine, arguments: Arguments::new(entry.name, given.clone()) };
        let mut off = Vec::new();
        for point in Point::ALL {
            if !setup.arguments.switch(point.switch(), true)? {
                off.push(point);
            }
        }
        Ok(Seat::new((entry.make)(&setup)?, &off))
    };
    let tiers = settings.batch.tiers.iter().map(|tier| tier.iter().map(seat).collect());
    Ok(Tiers::new(tiers.collect::<Result<_, PluginFault>>()?))
}

/// Names of all plugins.
pub fn plugin_names() -> impl Iterator<Item = &'static str> {
    PLUGINS.iter().map(|plugin| plugin.name)
}

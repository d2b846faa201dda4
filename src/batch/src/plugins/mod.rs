//! The plugins, one file each, and the table that names them.

mod affinity;
mod arguments;
mod binpack;
mod budget;
mod capacity;
mod cdp;
mod conformance;
mod deviceshare;
mod drf;
mod duration;
mod extender;
mod fragmentation;
mod gang;
mod load;
mod nodegroup;
mod nodeorder;
mod numaaware;
mod overcommit;
mod pdb;
mod predicates;
mod priority;
mod proportion;
mod proportional;
mod quota;
mod resourcequota;
mod sla;
mod strategy;
mod task_topology;
mod tdm;
mod topology;

use crate::registry::{Named, UnknownName, find};
use crate::session::{Plugin, Point, Seat, Tiers};
pub use arguments::{ArgumentFault, Arguments};
pub use binpack::Binpack;
pub use capacity::Capacity;
pub use cdp::{COOLDOWN_TIME, Cdp};
pub use conformance::Conformance;
pub use deviceshare::DeviceShare;
pub use drf::Drf;
pub use duration::duration;
pub use extender::{Extender, ExtenderCall, ExtenderLink, Outside};
pub use fragmentation::Fragmentation;
pub use gang::Gang;
pub use load::{Rescheduling, Usage};
pub use nodegroup::NodeGroup;
pub use nodeorder::NodeOrder;
pub use numaaware::{NUMA_POLICY, NumaAware, is_numa_policy};
pub use overcommit::Overcommit;
pub use pdb::Pdb;
pub use predicates::Predicates;
pub use priority::Priority;
pub use proportion::Proportion;
pub use resourcequota::ResourceQuota;
pub use sla::Sla;
use std::collections::BTreeMap;
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;
pub use strategy::{ResourceStrategyFit, own_strategy_fault};
pub use task_topology::{TaskTopology, topology_fault};
pub use tdm::{PREEMPTABLE, REVOCABLE_ZONE, Tdm};
pub use topology::NetworkTopologyAware;

/// What plugins are made from.
pub struct Setup<'a> {
    /// The settings that the engine's filters read.
    pub engine: &'a EngineConfig,
    /// What `[batch:<plugin>]` says.
    pub arguments: Arguments,
    /// Whether queues are looked at as a tree (`enableHierarchy`).
    pub hierarchy: bool,
    /// What is reached outside of the session.
    pub outside: Outside,
}

type Make = fn(&Setup<'_>) -> Result<Box<dyn Plugin>, PluginFault>;

/// The plugins there are.
const PLUGINS: &[Named<Make>] = &[
    Named { name: "priority", make: |_| Ok(Box::new(Priority)) },
    Named { name: "gang", make: |setup| Ok(Box::new(Gang::new(setup)?)) },
    Named { name: "conformance", make: |_| Ok(Box::new(Conformance)) },
    Named { name: "sla", make: |setup| Ok(Box::new(Sla::new(setup)?)) },
    Named { name: "overcommit", make: |setup| Ok(Box::new(Overcommit::new(setup)?)) },
    Named { name: "drf", make: |setup| Ok(Box::new(Drf::new(setup)?)) },
    Named { name: "predicates", make: |setup| Ok(Box::new(Predicates::new(setup)?)) },
    Named { name: "proportion", make: |_| Ok(Box::new(Proportion::default())) },
    Named { name: "capacity", make: |setup| Ok(Box::new(Capacity::new(setup)?)) },
    Named { name: "nodeorder", make: |setup| Ok(Box::new(NodeOrder::new(setup)?)) },
    Named { name: "fragmentation", make: |setup| Ok(Box::new(Fragmentation::new(setup)?)) },
    Named { name: "binpack", make: |setup| Ok(Box::new(Binpack::new(setup)?)) },
    Named { name: "nodegroup", make: |setup| Ok(Box::new(NodeGroup::new(setup)?)) },
    Named {
        name: "resource-strategy-fit",
        make: |setup| Ok(Box::new(ResourceStrategyFit::new(setup)?)),
    },
    Named { name: "task-topology", make: |setup| Ok(Box::new(TaskTopology::new(setup)?)) },
    Named { name: "tdm", make: |setup| Ok(Box::new(Tdm::new(setup)?)) },
    Named { name: "resourcequota", make: |_| Ok(Box::new(ResourceQuota::default())) },
    Named { name: "pdb", make: |_| Ok(Box::new(Pdb)) },
    Named { name: "cdp", make: |_| Ok(Box::new(Cdp)) },
    Named { name: "usage", make: |setup| Ok(Box::new(Usage::new(setup)?)) },
    Named { name: "rescheduling", make: |setup| Ok(Box::new(Rescheduling::new(setup)?)) },
    Named { name: "numaaware", make: |setup| Ok(Box::new(NumaAware::new(setup)?)) },
    Named { name: "deviceshare", make: |setup| Ok(Box::new(DeviceShare::new(setup)?)) },
    Named { name: "extender", make: |setup| Ok(Box::new(Extender::new(setup)?)) },
    Named {
        name: "network-topology-aware",
        make: |setup| Ok(Box::new(NetworkTopologyAware::new(setup)?)),
    },
];

/// Single rules of plugins, as recorded cases ask for them.
pub mod rules {
    pub use super::capacity::capacity_share;
    pub use super::quota::remaining_need;
}

/// The switch of plugins that can look at queues as a tree.
pub const HIERARCHY: &str = "enableHierarchy";

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

/// A plugin in its seat.
///
/// # Errors
/// A name that no plugin has, or an argument that cannot be used.
pub fn seat(
    name: &str,
    given: BTreeMap<String, String>,
    engine: &EngineConfig,
    outside: &Outside,
    on: &dyn Fn(Point, &Arguments) -> Result<bool, ArgumentFault>,
) -> Result<Seat, PluginFault> {
    let entry = find("plugin", PLUGINS, name)?;
    let arguments = Arguments::new(entry.name, given);
    let hierarchy = arguments.switch(HIERARCHY, false)?;
    let mut points = Vec::new();
    for point in Point::ALL {
        if on(*point, &arguments)? {
            points.push(*point);
        }
    }
    let setup = Setup { engine, arguments, hierarchy, outside: outside.clone() };
    let plugin = (entry.make)(&setup)?;
    setup.arguments.check_names()?;
    Ok(Seat::new(plugin, |point| points.contains(&point)))
}

/// Arguments that the service gives plugins unless `[batch:<plugin>]` says
/// otherwise (rule 12): its queues are a tree, and with capacity in the same
/// tier shares of jobs have no say in who is evicted.
const DEFAULTS: &[(&str, &str, &str)] =
    &[("capacity", HIERARCHY, "true"), ("drf", "enablePreemptable", "false")];

/// The settings with the arguments that the service gives plugins itself.
#[must_use]
pub fn completed(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    // Who may evict others has to be admitted first.
    let preempts =
        settings.batch.actions.iter().any(|action| action == "preempt" || action == "gangpreempt");
    let by_priority = preempts.then_some(("capacity", capacity::ENQUEUE_BY_PRIORITY, "true"));
    for (plugin, key, value) in DEFAULTS.iter().chain(&by_priority) {
        let given = settings.batch_plugins.entry((*plugin).to_owned()).or_default();
        given.entry((*key).to_owned()).or_insert_with(|| (*value).to_owned());
    }
    settings
}

/// The plugins of `[batch] tiers` with their arguments and switches.
///
/// # Errors
/// A name that no plugin has, or an argument that cannot be used.
pub fn tiers(
    settings: &Settings,
    engine: &EngineConfig,
    outside: &Outside,
) -> Result<Tiers, PluginFault> {
    let one = |name: &String| {
        let given = settings.batch_plugins.get(name).cloned().unwrap_or_default();
        seat(name, given, engine, outside, &|point, arguments| {
            arguments.switch(point.switch(), point.is_on_by_default(name))
        })
    };
    let tiers = settings.batch.tiers.iter().map(|tier| tier.iter().map(one).collect());
    Ok(Tiers::new(tiers.collect::<Result<_, PluginFault>>()?))
}

/// Names of all plugins.
pub fn plugin_names() -> impl Iterator<Item = &'static str> {
    PLUGINS.iter().map(|plugin| plugin.name)
}

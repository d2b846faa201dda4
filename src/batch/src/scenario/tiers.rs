//! Plugins as a scenario writes them.

use super::BatchFailure;
use super::mocks::Mock;
use crate::plugins::{Arguments, HIERARCHY, Outside, seat};
use crate::session::{Disagreement, Point, Seat, Tiers};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use stowplan_engine::config::EngineConfig;

/// The switch for queues as a tree, among the names of points.
const HIERARCHY_SHORT: &str = "hierarchy";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginInput {
    name: String,
    /// The points at which it is asked; all others are off. Without it, all are
    /// on.
    #[serde(default)]
    enabled: Option<Vec<String>>,
    #[serde(default)]
    disabled: Vec<String>,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

/// Plugins in tiers. Gangs keep their floors as victims unless it is said, and
/// votes on victims are combined as the peer does, its faults included.
pub(super) fn tiers(
    input: &[Vec<PluginInput>],
    mocks: &BTreeMap<String, Mock>,
    engine: &EngineConfig,
) -> Result<Tiers, BatchFailure> {
    let one = |plugin: &PluginInput| -> Result<Seat, BatchFailure> {
        if let Some(mock) = mocks.get(&plugin.name) {
            return Ok(Seat::new(mock.plugin(), |point| plugin.is_on(point.short())));
        }
        let mut arguments = texts(plugin.arguments.iter().flatten());
        if plugin.name == "gang" {
            arguments.entry("victims".to_owned()).or_insert_with(|| "floor".to_owned());
        }
        let is_tree = plugin.enabled.iter().flatten().any(|name| name == HIERARCHY_SHORT);
        if is_tree && !plugin.disabled.iter().any(|name| name == HIERARCHY_SHORT) {
            arguments.insert(HIERARCHY.to_owned(), "true".to_owned());
        }
        let on = |point: Point, _: &Arguments| Ok(plugin.is_on(point.short()));
        Ok(seat(&plugin.name, arguments, engine, &Outside::default(), &on)?)
    };
    let tiers = input.iter().map(|tier| tier.iter().map(one).collect());
    let tiers = Tiers::new(tiers.collect::<Result<_, BatchFailure>>()?);
    Ok(tiers.with(Disagreement::Afresh))
}

impl PluginInput {
    /// Whether the plugin is asked at a point. Some have no switch.
    fn is_on(&self, point: &str) -> bool {
        let always = matches!(point, "job_valid" | "victim_queue_order" | "unified_evictable");
        let on = self.enabled.as_ref().is_none_or(|names| names.iter().any(|name| name == point));
        always || (on && !self.disabled.iter().any(|name| name == point))
    }
}

/// Arguments as texts, as the configuration has them.
pub(super) fn texts<'a>(
    arguments: impl Iterator<Item = (&'a String, &'a Value)>,
) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    arguments.map(|(name, value)| (name.clone(), text(value))).collect()
}

//! A session's state as a scenario: what `stowplan evaluate` makes of it is what
//! a cycle would do, as far as scenarios can say it: topology domains, NUMA cells,
//! metrics and the traits of devices are left out.
//!
//! What others than tasks hold is `used` of a node; room that is held for
//! nominated tasks, or that is still held by tasks of jobs that have ended, is
//! that of tasks without a job which are leaving.

mod hosts;
mod jobs;

use crate::amounts::{Amounts, DimIx, Dims};
use crate::driver::{Plant, PlantFault};
use crate::plugins::completed;
use crate::session::{Queue, Quota, State};
use crate::store::{SpecCache, load};
use serde_json::{Map, Value, json};
use stowplan_config::{BatchTotal, Settings};
use stowplan_engine::config::EngineConfig;
use stowplan_ledger::Image;
use stowplan_model::Micros;

/// An image as a recorded case without `expect`, on the settings of the service.
///
/// # Errors
/// Settings that no cycle can run with.
pub fn export(image: &Image, settings: &Settings, now: Micros) -> Result<Value, PlantFault> {
    let plant = Plant::new(settings)?;
    let state = load(image, &plant.load, &mut SpecCache::default(), now).state;
    let exported = Exported { state: &state, engine: &EngineConfig::from(settings) };
    let (classes, jobs) = exported.jobs();
    Ok(json!({
        "id": format!("seq-{}", image.seq()),
        "now": seconds(now),
        "config": config(settings),
        "resource_map": resource_map(settings),
        "total": match settings.batch.total {
            BatchTotal::Available => "available",
            BatchTotal::Physical => "physical",
        },
        "nodes": exported.nodes(),
        "queues": exported.queues(),
        "resource_quotas": exported.quotas(),
        "priority_classes": classes,
        "jobs": jobs,
        "tasks_without_job": exported.strays(),
    }))
}

/// A state on its way into a scenario.
struct Exported<'a> {
    state: &'a State,
    engine: &'a EngineConfig,
}

impl Exported<'_> {
    fn amounts(&self, amounts: &Amounts) -> Value {
        self.texts(self.state.world.dims(), amounts.iter())
    }

    fn texts(&self, dims: &Dims, amounts: impl Iterator<Item = (DimIx, i64)>) -> Value {
        let text = |(dim, amount)| {
            let quantity = dims.quantum(dim).times(amount);
            (dims.name(dim).to_owned(), Value::String(quantity.to_string()))
        };
        Value::Object(amounts.map(text).collect())
    }

    fn queues(&self) -> Vec<Value> {
        self.state.queues().map(|queue| self.queue(&self.state[queue])).collect()
    }

    fn queue(&self, queue: &Queue) -> Value {
        let capability = queue.capability.as_ref();
        json!({
            "name": queue.name,
            "created": seconds(queue.created),
            "weight": queue.weight,
            "priority": queue.priority,
            "capability": capability.map_or_else(|| json!({}), |most| self.amounts(most)),
            "deserved": self.amounts(&queue.deserved),
            "guarantee": {"resource": self.amounts(&queue.guarantee)},
            "parent": queue.parent,
            "reclaimable": queue.reclaimable,
            "state": if queue.open { "Open" } else { "Closed" },
            "hierarchy": queue.hierarchy,
            "hierarchy_weights": queue.hierarchy_weights,
            "affinity": queue.groups.as_deref(),
            "node_group_limits": queue
                .group_limits
                .iter()
                .map(|(group, limits)| (group.clone(), self.limits(limits)))
                .collect::<Map<_, _>>(),
        })
    }

    fn limits(&self, limits: &[(DimIx, i64)]) -> Value {
        self.texts(self.state.world.dims(), limits.iter().copied())
    }

    fn quotas(&self) -> Vec<Value> {
        let one = |quota: &Quota| {
            let used = quota.used.as_ref();
            json!({
                "namespace": quota.project,
                "hard": self.limits(&quota.hard),
                "used": used.map_or_else(|| json!({}), |used| self.amounts(used)),
                "counts_tasks": used.is_none(),
            })
        };
        self.state.quotas.iter().map(one).collect()
    }
}

/// The options that bear on cycles and are not at their defaults, and the
/// arguments that the service gives plugins.
fn config(settings: &Settings) -> Map<String, Value> {
    const SECTIONS: [&str; 2] = ["batch", "scheduler"];
    // The scenario has these of its own.
    const OWN: [&str; 2] = ["batch.resource_map", "batch.total"];
    let mut config = settings.differing(&SECTIONS);
    config.retain(|key, _| !OWN.contains(&key.as_str()));
    for (plugin, arguments) in completed(settings).batch_plugins {
        for (key, value) in arguments {
            config.insert(format!("batch:{plugin}.{key}"), Value::String(value));
        }
    }
    config
}

fn resource_map(settings: &Settings) -> String {
    let mappings = settings.batch.resource_map.iter();
    let texts: Vec<String> =
        mappings.map(|map| format!("{}:{}:{}", map.dimension, map.class, map.quantum)).collect();
    texts.join(", ")
}

/// A moment in seconds since the epoch.
fn seconds(time: Micros) -> f64 {
    time.0 as f64 / Micros::PER_SECOND as f64
}

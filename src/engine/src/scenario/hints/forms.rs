//! What the forms hold and how each is evaluated.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use stowplan_config::Settings;

use super::cloud::{Cloud, Node, Task};
use super::{Came, HintFailure};
use crate::hint::{Hint, HintOutcome, from_annotations, order};

fn came(value: Value) -> Came {
    match value {
        Value::Object(came) => came,
        _ => Map::new(),
    }
}

#[derive(Deserialize)]
struct Annotations {
    annotations: Option<BTreeMap<String, String>>,
}

/// The hint in annotations.
pub(super) fn parse(given: Value, _: &Settings) -> Result<Came, HintFailure> {
    let given: Annotations = serde_json::from_value(given)?;
    let found = from_annotations(&given.annotations.unwrap_or_default())?;
    let hint = found.as_ref().map(|found| {
        json!({
            "node_names": found.hint.node_names,
            "preferred_node_names": found.hint.preferred_node_names,
            "extensions": found.hint.extensions,
        })
    });
    let warning = found.and_then(|found| found.warning());
    Ok(came(json!({ "hint": hint, "warning": warning })))
}

#[derive(Deserialize)]
struct Required {
    node_names: Option<Vec<String>>,
}

/// What candidates are narrowed to.
pub(super) fn required(given: Value, _: &Settings) -> Result<Came, HintFailure> {
    let given: Required = serde_json::from_value(given)?;
    let node_names = given.node_names.unwrap_or_default();
    let hint = Hint { node_names, ..Hint::default() };
    Ok(came(json!({ "required_nodes": hint.required() })))
}

#[derive(Deserialize)]
struct Preferred {
    preferred_node_names: Option<Vec<String>>,
    candidates_so_far: Option<SoFar>,
    max_hint_nodes: Option<Value>,
}

/// The candidates before the hint.
#[derive(Deserialize)]
#[serde(untagged)]
enum SoFar {
    These(Vec<String>),
    All(All),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum All {
    All,
}

/// The option in force, once `value` is set (null: not at all).
fn max(settings: &Settings, value: Option<Value>) -> Result<usize, HintFailure> {
    let mut settings = settings.clone();
    if let Some(value) = value {
        settings.set_json("scheduler.max_hint_nodes", &value)?;
    }
    Ok(settings.scheduler.max_hint_nodes as usize)
}

/// The preferred hosts that are tried.
pub(super) fn preferred(given: Value, settings: &Settings) -> Result<Came, HintFailure> {
    let given: Preferred = serde_json::from_value(given)?;
    let names = given.preferred_node_names.unwrap_or_default();
    let order = order(&names, max(settings, given.max_hint_nodes)?, |name| {
        match &given.candidates_so_far {
            None | Some(SoFar::All(All::All)) => true,
            Some(SoFar::These(these)) => these.iter().any(|other| other == name),
        }
    });
    let decision = if order.to_try.is_empty() { "skip" } else { "use" };
    let to_try = Some(&order.to_try).filter(|names| !names.is_empty());
    Ok(came(json!({
        "decision": decision, "try_in_order": to_try,
        "outside": order.outside, "beyond": order.beyond,
    })))
}

#[derive(Deserialize)]
struct Attempt {
    decision: Decision,
    try_in_order: Option<Vec<String>>,
    nodes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Use,
    Skip,
    Error,
}

/// What is left of hosts that pass all filters.
pub(super) fn attempt(given: Value, settings: &Settings) -> Result<Came, HintFailure> {
    let given: Attempt = serde_json::from_value(given)?;
    let preferred_node_names = match given.decision {
        Decision::Error => return Err(HintFailure::Decision),
        Decision::Skip => Vec::new(),
        Decision::Use => given.try_in_order.unwrap_or_default(),
    };
    let hint = Hint { preferred_node_names, ..Hint::default() };
    let nodes = given.nodes.into_iter().map(Node::named).collect();
    let answer = Cloud::new(nodes, Task::default(), settings)?.schedule(&hint)?;
    let candidates = match answer.hint {
        HintOutcome::Used => json!(answer.candidates),
        _ => json!("unchanged"),
    };
    Ok(came(json!({ "status": "Success", "candidates": candidates })))
}

#[derive(Deserialize)]
struct Args {
    max_hint_nodes: Option<Value>,
}

/// Whether the option can have a value.
pub(super) fn args(given: Value, settings: &Settings) -> Result<Came, HintFailure> {
    let given: Args = serde_json::from_value(given)?;
    let effective = max(settings, given.max_hint_nodes)?;
    Ok(came(json!({ "ok": true, "effective": effective })))
}

#[derive(Deserialize)]
struct Schedule {
    nodes: Vec<Node>,
    task: Task,
    hint: Option<Hint>,
    annotations: Option<BTreeMap<String, String>>,
}

/// Where a task goes.
pub(super) fn schedule(given: Value, settings: &Settings) -> Result<Came, HintFailure> {
    let given: Schedule = serde_json::from_value(given)?;
    let hint = match given.hint {
        Some(hint) => hint,
        None => {
            let found = from_annotations(&given.annotations.unwrap_or_default())?;
            found.map(|found| found.hint).unwrap_or_default()
        }
    };
    let answer = Cloud::new(given.nodes, given.task, settings)?.schedule(&hint)?;
    let node = answer.candidates.first();
    Ok(came(json!({
        "node": node, "unschedulable": node.is_none(),
        "nodes_filtered": answer.filtered, "outcome": answer.hint,
        "candidates": answer.candidates,
    })))
}

//! Shares of queues, and what admitted jobs still reserve.

use super::{Came, UnitCase};
use crate::amounts::{Amounts, Dims, Quantity};
use crate::plugins::rules;
use serde_json::{Map, Value, json};
use stowplan_engine::config::EngineConfig;

/// Thousandths in a unit of every dimension but cpu, memory and pods.
const MILLI: i64 = 1000;

/// The share that the plugin capacity sees.
pub(super) fn share(case: &UnitCase, _: &EngineConfig) -> Result<Came, String> {
    let dims = dims(&[case.field("deserved"), case.field("allocated")])?;
    let deserved = amounts(&dims, case.field("deserved"), 1)?;
    let allocated = amounts(&dims, case.field("allocated"), 1)?;
    Ok(Came::from([("share".to_owned(), json!(rules::capacity_share(&allocated, &deserved)))]))
}

/// What a running job still needs for its least.
pub(super) fn inqueue(case: &UnitCase, _: &EngineConfig) -> Result<Came, String> {
    let (least, held) = (case.field("min_resources"), case.field("allocated_internal_units"));
    let dims = dims(&[least, held])?;
    let need = rules::remaining_need(&amounts(&dims, least, MILLI)?, &amounts(&dims, held, 1)?);
    let named = need.positive().map(|(dim, value)| (dims.name(dim).to_owned(), json!(value)));
    let named: Map<String, Value> = named.collect();
    Ok(Came::from([("inqueue_internal_units".to_owned(), Value::Object(named))]))
}

fn dims(all: &[&Value]) -> Result<Dims, String> {
    let objects = all.iter().filter_map(|value| value.as_object());
    let mut names: Vec<&str> = objects.flat_map(Map::keys).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let quanta = names.into_iter().map(|name| (name, Quantity::units(1)));
    Dims::free(quanta).map_err(|fault| fault.to_string())
}

/// Amounts; `scale` turns counts of devices into the units that are summed.
fn amounts(dims: &Dims, value: &Value, scale: i64) -> Result<Amounts, String> {
    let mut amounts = Amounts::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let number = value.as_i64().ok_or_else(|| format!("{name}: expected a whole number"))?;
        let dim = dims.ix(name).ok_or_else(|| format!("{name}: no dimension"))?;
        let whole = matches!(name.as_str(), "cpu" | "memory" | "pods");
        amounts.set(dim, if whole { number } else { number.saturating_mul(scale) });
    }
    Ok(amounts)
}

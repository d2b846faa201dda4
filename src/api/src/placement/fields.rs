//! Values out of bodies that have been checked against their schema.

use crate::schema::{integer, lenient_uuid};
use serde_json::{Map, Value};
use std::sync::LazyLock;
use stowplan_model::{Inventory, Uuid};

use super::schemas::MAX_AMOUNT;

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The properties of an object; none of what is no object.
pub fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or(&EMPTY)
}

/// The properties of an object under a key.
pub fn object_of<'v>(value: &'v Value, key: &str) -> &'v Map<String, Value> {
    value.get(key).map_or(&EMPTY, object)
}

/// A whole number under a key.
pub fn int_of(value: &Value, key: &str) -> Option<i64> {
    value.get(key).and_then(integer)
}

/// A text under a key.
pub fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// A uuid under a key.
pub fn uuid_of(value: &Value, key: &str) -> Option<Uuid> {
    text_of(value, key).and_then(lenient_uuid)
}

/// The items of a list.
pub fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An inventory, with Placement's defaults for what it does not say.
pub fn inventory(value: &Value) -> Inventory {
    let number = |key, default| int_of(value, key).unwrap_or(default);
    Inventory {
        total: number("total", 0),
        reserved: number("reserved", 0),
        min_unit: number("min_unit", 1),
        max_unit: number("max_unit", MAX_AMOUNT),
        step_size: number("step_size", 1),
        allocation_ratio: value.get("allocation_ratio").and_then(Value::as_f64).unwrap_or(1.0),
    }
}

/// Inventories by class.
pub fn inventories(value: &Value) -> Vec<(String, Inventory)> {
    let all = object_of(value, "inventories").iter();
    all.map(|(class, value)| (class.clone(), inventory(value))).collect()
}

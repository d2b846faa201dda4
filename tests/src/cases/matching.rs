//! Whether a JSON value is the one that a case wants.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Whether it is: `"*"` and `"$name"` are anything, the order in lists does not
/// matter, and an object with a member `...` may have further ones.
#[must_use]
pub fn is_match(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::String(any), _) if any == "*" || any.starts_with('$') => true,
        (Value::Object(wanted), Value::Object(found)) => is_object_match(wanted, found),
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len() && is_list_match(wanted, &found.iter().collect::<Vec<_>>())
        }
        _ => wanted == found,
    }
}

fn is_object_match(wanted: &Map<String, Value>, found: &Map<String, Value>) -> bool {
    let is_open = wanted.contains_key("...");
    let named = || wanted.iter().filter(|(name, _)| *name != "...");
    named().all(|(name, value)| found.get(name).is_some_and(|found| is_match(value, found)))
        && (is_open || named().count() == found.len())
}

/// Whether each wanted value can be given one of those found.
fn is_list_match(wanted: &[Value], found: &[&Value]) -> bool {
    let Some((first, others)) = wanted.split_first() else {
        return true;
    };
    (0..found.len()).any(|place| {
        let mut left = found.to_vec();
        is_match(first, left.remove(place)) && is_list_match(others, &left)
    })
}

/// Keeps what stands where a matching case wants `"$name"`. In lists, items are
/// taken in their order.
pub fn keep(wanted: &Value, found: &Value, kept: &mut BTreeMap<String, String>) {
    match (wanted, found) {
        (Value::String(name), found) if name.starts_with('$') => {
            let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            kept.insert(name.clone(), text);
        }
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, wanted) in wanted {
                found.get(key).into_iter().for_each(|found| keep(wanted, found, kept));
            }
        }
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.iter().zip(found).for_each(|(wanted, found)| keep(wanted, found, kept));
        }
        _ => {}
    }
}

#[test]
fn values_are_kept() {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut kept = BTreeMap::new();
    keep(&value(r#"{"a": ["$one"], "b": "*"}"#), &value(r#"{"a": [7], "b": 8}"#), &mut kept);
    assert_eq!(kept, BTreeMap::from([("$one".to_owned(), "7".to_owned())]));
}

#[test]
fn values_are_matched() {
    let cases = [
        (r#""*""#, r#"{"a": 1}"#, true),
        (r#"{"a": 1}"#, r#"{"a": 1}"#, true),
        (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, false),
        (r#"{"a": 1, "...": ""}"#, r#"{"a": 1, "b": 2}"#, true),
        (r#"{"a": 1, "...": ""}"#, r#"{"b": 2}"#, false),
        (r#"{"a": null}"#, r#"{}"#, false),
        (r#"{"a": 1}"#, r#"{"a": 1.0}"#, false),
        (r#"[1, 2]"#, r#"[2, 1]"#, true),
        (r#"[1, 2]"#, r#"[1, 2, 3]"#, false),
        (r#"["*", 1]"#, r#"[1, 2]"#, true),
        (r#"["*", "*"]"#, r#"[1]"#, false),
    ];
    for (wanted, found, is) in cases {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(is_match(&value(wanted), &value(found)), is, "{wanted} {found}");
    }
}

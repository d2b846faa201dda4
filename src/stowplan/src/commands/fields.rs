//! Answers of the server as texts for tables.

use serde_json::{Map, Value};

/// A text, number or truth value of an answer; nothing for null.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(map) => pairs(map),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// An object as `key=value` in the order of its keys.
fn pairs(map: &Map<String, Value>) -> String {
    let pair = |(key, value): (&String, &Value)| format!("{key}={}", text(value));
    map.iter().map(pair).collect::<Vec<_>>().join(" ")
}

/// The texts of some fields, by JSON pointer.
pub fn texts<const N: usize>(value: &Value, fields: [&str; N]) -> [String; N] {
    fields.map(|field| value.pointer(field).map(text).unwrap_or_default())
}

/// The objects of a list in an answer.
pub fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Resources such as `cpu=4,memory=8Gi`.
pub fn resources(text: &str) -> Result<Map<String, Value>, String> {
    let pair = |part: &str| match part.trim().split_once('=') {
        Some((name, amount)) if !name.is_empty() && !amount.is_empty() => {
            Ok((name.to_owned(), Value::from(amount)))
        }
        _ => Err(format!("{part:?}: expected a resource, as in cpu=4,memory=8Gi")),
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn resources_are_read() {
        let expected = json!({"cpu": "4", "memory": "8Gi"});
        assert_eq!(resources("cpu=4, memory=8Gi").map(Value::Object), Ok(expected));
        assert!(resources("cpu").is_err_and(|error| error.contains("\"cpu\": expected")));
        assert_eq!(resources("").map(Value::Object), Ok(json!({})));
    }

    #[test]
    fn answers_are_told_in_short() {
        let value = json!({"a": null, "b": {"VCPU": 2, "PGPU": 1}, "c": ["x", 1], "d": true});
        assert_eq!(
            texts(&value, ["/a", "/b", "/c", "/d", "/e"]),
            ["", "VCPU=2 PGPU=1", "x, 1", "true", ""].map(str::to_owned)
        );
    }
}

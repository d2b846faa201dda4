//! Versioned objects, as Nova's services put them on the wire.

use serde_json::{Map, Value, json};

use super::envelope::kind;
use super::failure::Failure;

const NAME: &str = "nova_object.name";
const VERSION: &str = "nova_object.version";
const DATA: &str = "nova_object.data";

/// Objects of whose second major version we read the fields.
const SECOND: [&str; 2] = ["Instance", "InstanceList"];

/// The major version of an object whose fields we read.
#[must_use]
pub fn major(name: &str) -> u32 {
    if SECOND.contains(&name) { 2 } else { 1 }
}

/// The fields of an object of this name and major version. Fields that are
/// not known are passed over, so that objects of later minor versions are read.
///
/// # Errors
/// A value that is no such object.
pub fn fields<'a>(
    place: &str,
    value: &'a Value,
    name: &str,
    major: u32,
) -> Result<&'a Map<String, Value>, Failure> {
    let found = value.get(NAME).and_then(Value::as_str);
    if found != Some(name) {
        let found = found.map_or_else(|| kind(value).to_owned(), |name| format!("a {name}"));
        return Err(Failure::value(format!("{place} is {found}: expected a {name}")));
    }
    let version = value.get(VERSION).and_then(Value::as_str).unwrap_or_default();
    let is_known = version.split('.').next().and_then(|major| major.parse().ok()) == Some(major);
    if !is_known {
        return Err(Failure::object_version(name, version));
    }
    match value.get(DATA) {
        Some(Value::Object(fields)) => Ok(fields),
        other => Err(Failure::value(format!(
            "{place}.nova_object.data is {}: expected an object",
            other.map_or("missing", kind)
        ))),
    }
}

/// An object with its fields, all of them set by us.
#[must_use]
pub fn made(name: &str, version: &str, data: Value) -> Value {
    let changes: Vec<&String> = data.as_object().into_iter().flat_map(Map::keys).collect();
    let changes = json!(changes);
    json!({
        NAME: name,
        "nova_object.namespace": "nova",
        VERSION: version,
        DATA: data,
        "nova_object.changes": changes,
    })
}

/// The same as notifications carry it.
#[must_use]
pub fn payload(name: &str, version: &str, data: Value) -> Value {
    json!({
        NAME: name,
        "nova_object.namespace": "nova",
        VERSION: version,
        DATA: data,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn objects_are_told_by_name_and_major_version() {
        let aggregate = made("Aggregate", "1.3", json!({"id": 1}));
        assert_eq!(fields("aggregate", &aggregate, "Aggregate", 1).unwrap()["id"], 1);
        let wrong = fields("aggregate", &aggregate, "Flavor", 1).unwrap_err();
        assert_eq!(wrong.message, "aggregate is a Aggregate: expected a Flavor");
        let newer = made("Aggregate", "2.0", json!({}));
        let wrong = fields("aggregate", &newer, "Aggregate", 1).unwrap_err();
        assert_eq!(wrong.class, "IncompatibleObjectVersion");
        let wrong = fields("aggregate", &json!(5), "Aggregate", 1).unwrap_err();
        assert_eq!(wrong.message, "aggregate is a number: expected a Aggregate");
    }
}

//! Bodies of requests: JSON objects read into types, with every field that
//! cannot be read named at once.

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;

use crate::fields::FieldErrors;

/// How much of a name may differ for it to be offered instead.
const NEAR: f64 = 0.75;

/// A body that an API call takes: every field is optional to the reader.
pub trait Body: DeserializeOwned {
    /// The names of its fields.
    fn known() -> &'static BTreeSet<String>;
}

/// Makes a type a [`Body`]: its default is written once with all its fields.
#[macro_export]
macro_rules! body {
    ($type:ty) => {
        impl $crate::body::Body for $type {
            fn known() -> &'static ::std::collections::BTreeSet<String> {
                static KNOWN: ::std::sync::LazyLock<::std::collections::BTreeSet<String>> =
                    ::std::sync::LazyLock::new(|| {
                        $crate::body::fields_of(&<$type as Default>::default())
                    });
                &KNOWN
            }
        }
    };
}

/// Reads a body.
///
/// # Errors
/// That the body is no JSON object, or every field that is unknown or whose
/// value is not of its kind.
pub fn read<T: Body>(bytes: &[u8]) -> Result<T, FieldErrors> {
    let known = T::known();
    if let Ok(value) = serde_json::from_slice::<T>(bytes)
        && let Ok(Keys(names)) = serde_json::from_slice::<Keys>(bytes)
        && names.iter().all(|name| known.contains(name))
    {
        return Ok(value);
    }
    Err(faults::<T>(bytes, known))
}

/// The names that a value is written with.
#[must_use]
pub fn fields_of(value: &impl Serialize) -> BTreeSet<String> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object.into_iter().map(|(name, _)| name).collect(),
        _ => BTreeSet::new(),
    }
}

/// Every field that is wrong.
fn faults<T: DeserializeOwned>(bytes: &[u8], known: &BTreeSet<String>) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let object = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(object)) => object,
        Ok(other) => {
            errors.add("body", &other, "a JSON object");
            return errors;
        }
        Err(error) => {
            let text = String::from_utf8_lossy(bytes);
            errors.add_text("body", &text, format!("a JSON object ({error})"));
            return errors;
        }
    };
    for (name, value) in object {
        if !known.contains(&name) {
            errors.add(name.clone(), &value, expected_instead(&name, known));
            continue;
        }
        let alone = Value::Object(Map::from_iter([(name.clone(), value)]));
        if let Err(error) = serde_path_to_error::deserialize::<_, T>(&alone) {
            let path = error.path().to_string();
            let field = if path == "." { name } else { path };
            let found = at(&alone, &field);
            errors.add(field, &found, expectation(&error.into_inner().to_string()));
        }
    }
    if errors.all().is_empty() {
        // No field is wrong by itself: the object as a whole is.
        let reason = serde_json::from_slice::<T>(bytes).err();
        let text = String::from_utf8_lossy(bytes);
        errors.add_text("body", &text, reason.map_or_else(String::new, |e| e.to_string()));
    }
    errors
}

fn expected_instead(name: &str, known: &BTreeSet<String>) -> String {
    let near = known.iter().map(|known| (strsim::jaro_winkler(name, known), known));
    match near.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((likeness, known)) if likeness >= NEAR => {
            format!("no field of this name (is {known} meant?)")
        }
        _ => "no field of this name".to_owned(),
    }
}

/// The value at a path such as `inventory.VCPU.total` or `devices[1].name`, as
/// deep as it can be followed.
fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    let mut here = value;
    for part in path.split(['.', '[']) {
        let part = part.trim_end_matches(']');
        let next = match here {
            Value::Object(object) => object.get(part),
            Value::Array(list) => part.parse().ok().and_then(|place: usize| list.get(place)),
            _ => None,
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    here
}

/// What a message of the reader says was expected, in words.
fn expectation(message: &str) -> String {
    let Some((_, expected)) = message.rsplit_once("expected ") else {
        return match message.split_once("missing field ") {
            Some((_, field)) => format!("a field {}", field.replace('`', "")),
            None => message.to_owned(),
        };
    };
    match expected {
        "i64" | "u64" | "i32" | "u32" | "usize" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a map" => "an object".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a formatted UUID string" => "a uuid".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        other => other.replace('`', ""),
    }
}

/// The names of an object's fields, their values passed over.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;

        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = map.next_key()? {
                    names.push(name);
                    map.next_value::<IgnoredAny>()?;
                }
                Ok(Keys(names))
            }
        }

        deserializer.deserialize_map(KeysVisitor)
    }
}

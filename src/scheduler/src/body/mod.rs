//! Bodies of requests: JSON objects read into types, with every field that
//! cannot be read named at once.

mod strict;

pub(crate) use strict::Strict;

use crate::fields::FieldErrors;
use serde::de::DeserializeOwned;
use serde_json::{Deserializer, Map, Value};
use serde_path_to_error::{Path, Segment};

/// Reads a body. Objects take no list in their place, and none of them, at any
/// depth, a field that its type has not.
///
/// Each field of `T` must be optional.
///
/// # Errors
/// That the body is no JSON object, or every field that is unknown or whose
/// value is not of its kind.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FieldErrors> {
    strictly(bytes).map_err(|error| faults::<T>(bytes, &error))
}

/// Reads a body that is a list; `name` is what errors call it.
///
/// # Errors
/// That the body is no list, or the first fault of every item that cannot be
/// read.
pub fn read_list<T: DeserializeOwned>(bytes: &[u8], name: &str) -> Result<Vec<T>, FieldErrors> {
    strictly(bytes).map_err(|error: serde_json::Error| {
        let mut errors = FieldErrors::default();
        match value(bytes, &mut errors, "a list") {
            Some(Value::Array(items)) => {
                for (place, item) in items.iter().enumerate() {
                    fault::<T>(&mut errors, &format!("{name}[{place}]"), item);
                }
            }
            Some(other) => errors.add("body", &other, "a list"),
            None => {}
        }
        or_whole(errors, bytes, &error)
    })
}

fn strictly<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    let mut reader = Deserializer::from_slice(bytes);
    let value = T::deserialize(Strict(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// Every field that is wrong.
fn faults<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> FieldErrors {
    let mut errors = FieldErrors::default();
    match value(bytes, &mut errors, "a JSON object") {
        Some(Value::Object(object)) => {
            for (name, value) in object {
                let alone = Value::Object(Map::from_iter([(name, value)]));
                fault::<T>(&mut errors, "", &alone);
            }
        }
        Some(other) => errors.add("body", &other, "a JSON object"),
        None => {}
    }
    or_whole(errors, bytes, error)
}

/// If nothing in the body is wrong by itself, the body as a whole is.
fn or_whole(mut errors: FieldErrors, bytes: &[u8], error: &serde_json::Error) -> FieldErrors {
    if errors.all().is_empty() {
        errors.add_text("body", &String::from_utf8_lossy(bytes), expectation(&error.to_string()));
    }
    errors
}

/// The body as a value, if it is JSON.
fn value(bytes: &[u8], errors: &mut FieldErrors, expected: &str) -> Option<Value> {
    let mut reader = Deserializer::from_slice(bytes);
    let error = match serde_path_to_error::deserialize::<_, Value>(&mut reader) {
        Ok(value) => match reader.end() {
            Ok(()) => return Some(value),
            Err(error) => error,
        },
        // The number stands there, and is none that any reader holds.
        Err(error)
            if error.path().iter().len() > 0
                && error.inner().to_string().starts_with("number out of range") =>
        {
            errors.add_text(error.path().to_string(), "too large", "a number of at most 64 bits");
            return None;
        }
        Err(error) => error.into_inner(),
    };
    let text = String::from_utf8_lossy(bytes);
    errors.add_text("body", &text, format!("{expected} ({error})"));
    None
}

/// What is wrong with a value, if anything is.
fn fault<T: DeserializeOwned>(errors: &mut FieldErrors, place: &str, value: &Value) {
    let Err(error) = serde_path_to_error::deserialize::<_, T>(Strict(value)) else { return };
    let (path, found) = (error.path().to_string(), at(value, error.path()));
    let field = match (place, path.as_str()) {
        (place, ".") => place.to_owned(),
        ("", path) => path.to_owned(),
        (place, path) => format!("{place}.{path}"),
    };
    let mut expected = expectation(&error.inner().to_string());
    if expected == WHOLE_NUMBER && found.as_f64().is_some_and(|number| number.fract() == 0.0) {
        expected = format!("{WHOLE_NUMBER} from {} to {}", i64::MIN, i64::MAX);
    }
    errors.add(field, found, expected);
}

/// The value at a path such as `inventory.VCPU.total` or `devices[1].name`, as
/// deep as it can be followed.
fn at<'a>(value: &'a Value, path: &Path) -> &'a Value {
    let mut here = value;
    for part in path.iter() {
        let next = match part {
            Segment::Seq { index } => here.get(index),
            Segment::Map { key } => here.get(key),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    here
}

const WHOLE_NUMBER: &str = "a whole number";

/// What a message of the reader says was expected, in words.
fn expectation(message: &str) -> String {
    let Some((_, expected)) = message.rsplit_once("expected ") else {
        return match message.split_once("missing field ") {
            Some((_, field)) => format!("a field {}", field.replace('`', "")),
            None => message.to_owned(),
        };
    };
    match expected {
        "i64" | "i32" | "u32" | "usize" => WHOLE_NUMBER.to_owned(),
        "u64" => format!("{WHOLE_NUMBER} from 0 to {}", u64::MAX),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a map" => "an object".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a formatted UUID string" => "a uuid".to_owned(),
        other => other.replace('`', ""),
    }
}

#[cfg(test)]
mod tests;

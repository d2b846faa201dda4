//! Fields of an object, read one by one. Null and absent are the same; what is
//! of another kind fails with its place, its value and what was expected.

use serde_json::{Map, Value};
use stowplan_model::Uuid;

use super::failure::Failure;
use super::object;

/// The longest value that an error repeats.
const MAX_SHOWN: usize = 80;

/// An object with the place that it stands at.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    place: String,
    map: &'a Map<String, Value>,
}

/// What reading a field gives.
pub type Read<T> = Result<T, Failure>;

impl<'a> Fields<'a> {
    /// The fields of a map.
    #[must_use]
    pub fn of(place: &str, map: &'a Map<String, Value>) -> Self {
        Self { place: place.to_owned(), map }
    }

    /// The fields of a versioned object.
    ///
    /// # Errors
    /// A value that is no such object.
    pub fn object(place: &str, value: &'a Value, name: &str) -> Read<Self> {
        object::fields(place, value, name, object::major(name)).map(|map| Self::of(place, map))
    }

    /// The fields of an object that may be a versioned one or a plain one, as
    /// older callers send it.
    ///
    /// # Errors
    /// A value that is no object.
    pub fn any(place: &str, value: &'a Value, name: &str) -> Read<Self> {
        match value {
            Value::Object(map) if !map.contains_key("nova_object.name") => Ok(Self::of(place, map)),
            other => Self::object(place, other, name),
        }
    }

    /// The value of a field; none where it is null or absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// The place of a field.
    #[must_use]
    pub fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    fn read<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| wrong(&self.place(name), value, expected))
    }

    /// A text.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn text(&self, name: &str) -> Read<Option<String>> {
        self.read(name, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// A whole number, which may stand as text.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn int(&self, name: &str) -> Read<Option<i64>> {
        self.read(name, "a whole number", |value| match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_i64(),
        })
    }

    /// A truth value.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn flag(&self, name: &str) -> Read<bool> {
        self.read(name, "true or false", Value::as_bool).map(Option::unwrap_or_default)
    }

    /// A uuid.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn uuid(&self, name: &str) -> Read<Option<Uuid>> {
        self.read(name, "a uuid", uuid)
    }

    /// A list of texts.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn texts(&self, name: &str) -> Read<Option<Vec<String>>> {
        self.read(name, "a list of texts", |value| each(value, Value::as_str, str::to_owned))
    }

    /// A list of whole numbers.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn ints(&self, name: &str) -> Read<Vec<i64>> {
        let list = self.read(name, "a list of whole numbers", |value| {
            each(value, Value::as_i64, |number| number)
        });
        list.map(Option::unwrap_or_default)
    }

    /// A list of uuids.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn uuids(&self, name: &str) -> Read<Option<Vec<Uuid>>> {
        self.read(name, "a list of uuids", |value| each(value, uuid, |uuid| uuid))
    }

    /// An object.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn map(&self, name: &str) -> Read<Option<&'a Map<String, Value>>> {
        self.read(name, "an object", Value::as_object)
    }

    /// An object of texts.
    ///
    /// # Errors
    /// A value of another kind.
    pub fn pairs(&self, name: &str) -> Read<Vec<(String, String)>> {
        let pairs = self.map(name)?.into_iter().flatten().map(|(key, value)| match value {
            Value::String(text) => Ok((key.clone(), text.clone())),
            Value::Number(number) => Ok((key.clone(), number.to_string())),
            other => Err(wrong(&format!("{}.{key}", self.place(name)), other, "a text")),
        });
        pairs.collect()
    }

    /// The versioned object in a field.
    ///
    /// # Errors
    /// A value that is no such object.
    pub fn inner(&self, name: &str, object: &str) -> Read<Option<Self>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        Self::any(&self.place(name), value, object).map(Some)
    }

    /// The versioned objects in a list.
    ///
    /// # Errors
    /// A value that is no list of such objects.
    pub fn inners(&self, name: &str, object: &str) -> Read<Vec<Self>> {
        let list = self.read(name, "a list", Value::as_array)?;
        let items = list.into_iter().flatten().enumerate();
        items
            .map(|(at, item)| Self::any(&format!("{}[{at}]", self.place(name)), item, object))
            .collect()
    }
}

/// A value that is not what was expected.
#[must_use]
pub fn wrong(place: &str, value: &Value, expected: &str) -> Failure {
    let mut shown = value.to_string();
    if let Some((end, _)) = shown.char_indices().nth(MAX_SHOWN) {
        shown.truncate(end);
        shown.push_str("...");
    }
    Failure::value(format!("{place} is {shown}: expected {expected}"))
}

/// A uuid as text.
#[must_use]
pub fn uuid(value: &Value) -> Option<Uuid> {
    value.as_str().and_then(|text| Uuid::parse_str(text).ok())
}

fn each<'a, A, T>(
    value: &'a Value,
    read: impl Fn(&'a Value) -> Option<A>,
    make: impl Fn(A) -> T,
) -> Option<Vec<T>> {
    value.as_array()?.iter().map(|item| read(item).map(&make)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn a_wrong_field_is_named_with_its_value() {
        let map = json!({"a": 1, "b": null, "c": ["x", 5], "d": "7"});
        let fields = Fields::of("spec", map.as_object().unwrap());
        assert_eq!(fields.text("b").unwrap(), None);
        assert_eq!(fields.int("d").unwrap(), Some(7));
        assert_eq!(fields.text("a").unwrap_err().message, "spec.a is 1: expected a text");
        assert_eq!(
            fields.texts("c").unwrap_err().message,
            "spec.c is [\"x\",5]: expected a list of texts"
        );
    }
}

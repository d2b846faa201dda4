//! What a server asks for: the flavor, with its extra specs in their order.

use std::collections::HashMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A flavor as Nova's request carries it.
///
/// A key that is missing in the input takes the smallest usable amount: one
/// CPU, everything else 0. Amounts are not negative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct Flavor {
    /// Name, as `instance_type` of host aggregates compares it.
    pub name: String,
    /// Virtual CPUs.
    pub vcpus: i64,
    /// Memory in MiB.
    pub memory_mb: i64,
    /// Root disk in GiB.
    pub root_gb: i64,
    /// Ephemeral disk in GiB.
    pub ephemeral_gb: i64,
    /// Swap disk in MiB.
    pub swap: i64,
    /// Extra specs in the order of the request: filters look at them in turn
    /// and the first that fails decides.
    #[schema(value_type = BTreeMap<String, String>)]
    pub extra_specs: ExtraSpecs,
}

impl Default for Flavor {
    fn default() -> Self {
        Self {
            name: String::new(),
            vcpus: 1,
            memory_mb: 0,
            root_gb: 0,
            ephemeral_gb: 0,
            swap: 0,
            extra_specs: ExtraSpecs::default(),
        }
    }
}

/// Key and value pairs of a flavor, in the order they were given.
///
/// In JSON an object of strings; a number is read as its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraSpecs(Vec<(String, String)>);

impl ExtraSpecs {
    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Sets `key`, in its old place if it is there, else at the end.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<String>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some(slot) => slot.1 = value,
            None => self.0.push((key, value)),
        }
    }

    /// All pairs in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for ExtraSpecs {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut specs = Self::default();
        for (key, value) in pairs {
            specs.insert(key, value);
        }
        specs
    }
}

impl Serialize for ExtraSpecs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ExtraSpecs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Specs;

        impl<'de> Visitor<'de> for Specs {
            type Value = ExtraSpecs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of extra specs, each value a string")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut specs, mut places) = (Vec::new(), HashMap::new());
                while let Some(key) = map.next_key::<String>()? {
                    let Text(value) = map.next_value()?;
                    let place = *places.entry(key.clone()).or_insert(specs.len());
                    if place == specs.len() {
                        specs.push((key, value));
                    } else {
                        specs[place].1 = value;
                    }
                }
                Ok(ExtraSpecs(specs))
            }
        }

        deserializer.deserialize_map(Specs)
    }
}

/// A string, or a number read as its text.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Text, E> {
                Ok(Text(text))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Text, E> {
                Ok(Text(format!("{number:?}")))
            }
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn extra_specs_keep_their_order_and_read_numbers_as_text() {
        let text = r#"{"z":"1","a":2,"m":4.0}"#;
        let specs: ExtraSpecs = serde_json::from_str(text).unwrap();
        let pairs: Vec<_> = specs.iter().collect();
        assert_eq!(pairs, [("z", "1"), ("a", "2"), ("m", "4.0")]);
        let again = serde_json::to_string(&specs).unwrap();
        assert_eq!(again, r#"{"z":"1","a":"2","m":"4.0"}"#);
    }

    #[test]
    fn a_key_that_stands_twice_keeps_its_place_and_takes_the_later_value() {
        let specs: ExtraSpecs = serde_json::from_str(r#"{"a":"1","b":"2","a":"3"}"#).unwrap();
        assert_eq!(specs.iter().collect::<Vec<_>>(), [("a", "3"), ("b", "2")]);
    }

    #[test]
    fn a_wrong_value_says_what_was_expected() {
        let error = serde_json::from_str::<ExtraSpecs>(r#"{"a":[]}"#).unwrap_err();
        assert!(error.to_string().contains("expected a string"), "{error}");
    }

    #[test]
    fn a_missing_key_takes_the_smallest_amount() {
        let flavor: Flavor = serde_json::from_str(r#"{"memory_mb":512}"#).unwrap();
        assert_eq!((flavor.vcpus, flavor.memory_mb, flavor.swap), (1, 512, 0));
    }
}

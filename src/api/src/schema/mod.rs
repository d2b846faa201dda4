//! What JSON bodies and queries must look like, as tables, and the one check
//! of a value against them.
//!
//! A fault is told in the words that clients of the peer look for: what is
//! wrong, the rule that failed and where, and the value.

mod describe;
mod pattern;
mod report;

pub use describe::describe;
pub use pattern::{Pattern, is_suffix, lenient_uuid};
pub use report::Fault;

use serde_json::{Map, Value};
use std::collections::HashSet;

/// What a value must look like.
#[derive(Clone, Copy, Debug)]
pub enum Schema {
    /// An object.
    Object(Object),
    /// A list.
    List {
        /// What each item must look like.
        items: &'static Schema,
        /// Fewest items.
        min: usize,
        /// Most items.
        max: usize,
        /// Whether no item may stand twice.
        unique: bool,
    },
    /// A text.
    Text(Text),
    /// A whole number.
    Integer {
        /// The least.
        min: Option<i64>,
        /// The greatest.
        max: Option<i64>,
    },
    /// A whole number, or the text of one.
    Count {
        /// The least.
        min: i64,
    },
    /// True or false, or a word for it.
    Flag,
    /// A number.
    Number {
        /// The greatest.
        max: Option<f64>,
    },
    /// That, or null.
    OrNull(&'static Schema),
}

/// Rules for an object.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Properties by name.
    pub properties: &'static [(&'static str, &'static Schema)],
    /// Properties by the form of their name.
    pub patterns: &'static [(Pattern, &'static Schema)],
    /// Names that must be there.
    pub required: &'static [&'static str],
    /// Whether other properties may be there too.
    pub open: bool,
    /// Fewest properties.
    pub min: usize,
}

impl Object {
    /// An object with exactly these properties, none of them required.
    pub const fn of(properties: &'static [(&'static str, &'static Schema)]) -> Self {
        Self { properties, patterns: &[], required: &[], open: false, min: 0 }
    }

    /// An object whose properties are named by a form.
    pub const fn keyed(patterns: &'static [(Pattern, &'static Schema)]) -> Self {
        Self { properties: &[], patterns, required: &[], open: false, min: 0 }
    }

    /// With names that must be there.
    pub const fn required(self, required: &'static [&'static str]) -> Self {
        Self { required, ..self }
    }

    /// With at least this many properties.
    pub const fn at_least(self, min: usize) -> Self {
        Self { min, ..self }
    }
}

/// Rules for a text.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Fewest characters.
    pub min: usize,
    /// Most characters.
    pub max: usize,
    /// The form.
    pub pattern: Option<Pattern>,
    /// Whether it must be a uuid, in any of the usual notations.
    pub uuid: bool,
    /// The only values, if any are listed.
    pub one_of: &'static [&'static str],
}

impl Text {
    /// Any text.
    pub const ANY: Self = Self { min: 0, max: usize::MAX, pattern: None, uuid: false, one_of: &[] };

    /// A text of so many characters.
    pub const fn sized(min: usize, max: usize) -> Self {
        Self { min, max, ..Self::ANY }
    }

    /// A text of a form.
    pub const fn of(self, pattern: Pattern) -> Self {
        Self { pattern: Some(pattern), ..self }
    }
}

/// Any text.
pub const TEXT: Schema = Schema::Text(Text::ANY);
/// A uuid.
pub const UUID: Schema = Schema::Text(Text { uuid: true, ..Text::ANY });
/// Any whole number.
pub const INTEGER: Schema = Schema::Integer { min: None, max: None };

impl Schema {
    /// Checks a value.
    ///
    /// # Errors
    /// With the first fault, outermost first.
    pub fn check(&self, value: &Value) -> Result<(), Fault> {
        match self {
            Self::Object(rules) => match value {
                Value::Object(map) => check_object(rules, map),
                _ => Err(Fault::kind(value, "object")),
            },
            Self::List { items, min, max, unique } => match value {
                Value::Array(list) if list.len() > *max => Err(Fault::too_many_items(value, *max)),
                Value::Array(list) => check_list(items, *min, *unique, list, value),
                _ => Err(Fault::kind(value, "array")),
            },
            Self::Text(rules) => match value {
                Value::String(text) => check_text(rules, text, value),
                _ => Err(Fault::kind(value, "string")),
            },
            Self::Integer { min, max } => check_integer(*min, *max, value),
            Self::Count { min } => check_count(*min, value),
            Self::Flag => match flag(value) {
                Some(_) => Ok(()),
                None => Err(Fault::no_flag(value)),
            },
            Self::Number { max } => match value.as_f64() {
                Some(number) => match max {
                    Some(max) if number > *max => Err(Fault::above(value, &report::float(*max))),
                    _ => Ok(()),
                },
                None => Err(Fault::kind(value, "number")),
            },
            Self::OrNull(inner) => {
                if value.is_null() {
                    Ok(())
                } else {
                    inner.check(value)
                }
            }
        }
    }
}

fn check_object(rules: &Object, map: &Map<String, Value>) -> Result<(), Fault> {
    for name in rules.required {
        if !map.contains_key(*name) {
            return Err(Fault::missing(name, map));
        }
    }
    if map.len() < rules.min {
        return Err(Fault::too_few_properties(map));
    }
    let known = |name: &str| {
        rules.properties.iter().any(|(known, _)| *known == name)
            || rules.patterns.iter().any(|(pattern, _)| pattern.fits(name))
    };
    let surplus: Vec<&str> = map.keys().map(String::as_str).filter(|name| !known(name)).collect();
    if !rules.open && !surplus.is_empty() {
        return Err(Fault::surplus(&surplus, rules.patterns, map));
    }
    for (name, value) in map {
        if let Some((known, schema)) = rules.properties.iter().find(|(known, _)| known == name) {
            schema.check(value).map_err(|fault| fault.inside_property(known, name))?;
        }
        for (pattern, schema) in rules.patterns.iter().filter(|(pattern, _)| pattern.fits(name)) {
            schema.check(value).map_err(|fault| fault.inside_pattern(*pattern, name))?;
        }
    }
    Ok(())
}

fn check_list(
    items: &Schema,
    min: usize,
    unique: bool,
    list: &[Value],
    value: &Value,
) -> Result<(), Fault> {
    if list.len() < min {
        return Err(Fault::too_few_items(value));
    }
    for (place, item) in list.iter().enumerate() {
        items.check(item).map_err(|fault| fault.inside_item(place))?;
    }
    let mut seen = HashSet::new();
    let mut twice = || list.iter().any(|item| !seen.insert(item.to_string()));
    if unique && twice() { Err(Fault::repeated(value)) } else { Ok(()) }
}

fn check_text(rules: &Text, text: &str, value: &Value) -> Result<(), Fault> {
    let length = text.chars().count();
    if length < rules.min {
        return Err(Fault::too_short(value, rules.min));
    }
    if length > rules.max {
        return Err(Fault::too_long(value, rules.max));
    }
    if let Some(pattern) = rules.pattern.filter(|pattern| !pattern.fits(text)) {
        return Err(Fault::other_form(value, pattern));
    }
    if rules.uuid && lenient_uuid(text).is_none() {
        return Err(Fault::no_uuid(value));
    }
    if !rules.one_of.is_empty() && !rules.one_of.contains(&text) {
        return Err(Fault::not_listed(value, rules.one_of));
    }
    Ok(())
}

fn check_integer(min: Option<i64>, max: Option<i64>, value: &Value) -> Result<(), Fault> {
    let Some(number) = integer(value) else { return Err(Fault::kind(value, "integer")) };
    match (min, max) {
        (Some(min), _) if number < min => Err(Fault::below(value, &min.to_string())),
        (_, Some(max)) if number > max => Err(Fault::above(value, &max.to_string())),
        _ => Ok(()),
    }
}

fn check_count(min: i64, value: &Value) -> Result<(), Fault> {
    match count(value) {
        Some(number) if number < min => Err(Fault::below(value, &min.to_string())),
        Some(_) => Ok(()),
        None if value.as_str() == Some("") => Err(Fault::too_short(value, 1)),
        None if value.is_string() => Err(Fault::other_form(value, Pattern::Digits)),
        None => Err(Fault::kind(value, "integer")),
    }
}

/// The whole number that a value is, or that its text is: digits alone.
#[must_use]
pub fn count(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) if text.is_empty() || !Pattern::Digits.fits(text) => None,
        Value::String(text) => Some(text.parse().unwrap_or(i64::MAX)),
        other => integer(other),
    }
}

/// Words for true, and for false.
const TRUE: [&str; 10] = ["True", "TRUE", "true", "1", "ON", "On", "on", "YES", "Yes", "yes"];
const FALSE: [&str; 10] = ["False", "FALSE", "false", "0", "OFF", "Off", "off", "NO", "No", "no"];

/// What a value says that is true or false, or a word for it.
#[must_use]
pub fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if TRUE.contains(&text.as_str()) => Some(true),
        Value::String(text) if FALSE.contains(&text.as_str()) => Some(false),
        _ => None,
    }
}

/// The whole number that a value is; `1.0` is one. Beyond 64 bits the nearest
/// number of 64 bits stands for it.
#[must_use]
pub fn integer(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    if value.is_u64() {
        return Some(i64::MAX);
    }
    // The cast saturates, which is what is wanted beyond 64 bits.
    value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    const NAME: Schema = Schema::Text(Text::sized(1, 5).of(Pattern::Name));
    const COUNT: Schema = Schema::Integer { min: Some(1), max: Some(9) };
    const COUNTS: Schema = Schema::Object(Object::keyed(&[(Pattern::Name, &COUNT)]).at_least(1));
    const UNIQUE: Schema = Schema::List { items: &UUID, min: 1, max: 3, unique: true };
    const ALL: Schema = Schema::Object(
        Object::of(&[
            ("name", &NAME),
            ("counts", &COUNTS),
            ("ids", &UNIQUE),
            ("ratio", &Schema::Number { max: Some(10.0) }),
            ("parent", &Schema::OrNull(&UUID)),
        ])
        .required(&["name"]),
    );

    #[test]
    fn what_fits() {
        for value in [
            json!({"name": "A_1"}),
            json!({"name": "A", "parent": null, "ratio": 1}),
            json!({"name": "A", "counts": {"B": 1.0, "C": 9}}),
            json!({"name": "A", "ids": ["2290d4af9e6e400b9d651ee01376f71a"]}),
        ] {
            assert!(ALL.check(&value).is_ok(), "{value}");
        }
    }

    #[test]
    fn a_fault_names_field_value_and_what_was_expected() {
        for (value, start, middle) in [
            (json!([]), "[] is not of type 'object'", "'type' in schema"),
            (json!({}), "'name' is a required property", "'required' in schema"),
            (
                json!({"name": ""}),
                "'' should be non-empty",
                "'minLength' in schema['properties']['name']",
            ),
            (
                json!({"name": "ABCDEF"}),
                "'ABCDEF' is too long",
                "'maxLength' in schema['properties']['name']",
            ),
            (json!({"name": "a"}), "'a' does not match '^[A-Z0-9_]+$'", "'pattern' in"),
            (
                json!({"name": "A", "x": 1, "y": 2}),
                "Additional properties are not allowed ('x', 'y' were unexpected)",
                "'additionalProperties'",
            ),
            (
                json!({"name": "A", "counts": {}}),
                "{} should be non-empty",
                "'minProperties' in schema['properties']['counts']",
            ),
            (
                json!({"name": "A", "counts": {"b": 1}}),
                "'b' does not match any of the regexes: '^[A-Z0-9_]+$'",
                "'additionalProperties'",
            ),
            (
                json!({"name": "A", "counts": {"B": 0}}),
                "0 is less than the minimum of 1",
                "'minimum' in schema['properties']['counts']['patternProperties']['^[A-Z0-9_]+$']",
            ),
            (
                json!({"name": "A", "counts": {"B": 10}}),
                "10 is greater than the maximum of 9",
                "'maximum'",
            ),
            (json!({"name": "A", "counts": {"B": 1.5}}), "1.5 is not of type 'integer'", "'type'"),
            (
                json!({"name": "A", "counts": {"B": true}}),
                "True is not of type 'integer'",
                "'type'",
            ),
            (json!({"name": "A", "ids": []}), "[] should be non-empty", "'minItems'"),
            (
                json!({"name": "A", "ids": ["x"]}),
                "'x' is not a 'uuid'",
                "'format' in schema['properties']['ids']['items']: On instance['ids'][0]",
            ),
            (
                json!({"name": "A", "ratio": 11}),
                "11 is greater than the maximum of 10.0",
                "'maximum'",
            ),
            (
                json!({"name": "A", "parent": 1}),
                "1 is not of type 'string'",
                "'type' in schema['properties']['parent']",
            ),
        ] {
            let text = ALL.check(&value).unwrap_err().to_string();
            assert!(text.starts_with(start), "{value}: {text}");
            assert!(text.contains(middle), "{value}: {text}");
        }
        let id = "2290d4af-9e6e-400b-9d65-1ee01376f71a";
        let text = UNIQUE.check(&json!([id, id])).unwrap_err().to_string();
        assert!(text.contains("has non-unique elements"), "{text}");
    }

    #[test]
    fn whole_numbers() {
        for (value, number) in [
            (json!(1.0), Some(1)),
            (json!(u64::MAX), Some(i64::MAX)),
            (json!(-1e30), Some(i64::MIN)),
            (json!(0.5), None),
            (json!("1"), None),
        ] {
            assert_eq!(integer(&value), number, "{value}");
        }
    }
}

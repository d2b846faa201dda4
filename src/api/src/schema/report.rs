//! How a fault is told.

use super::pattern::Pattern;
use serde_json::{Map, Value};
use std::fmt;
use stowplan_model::pytext;

/// The longest value that is repeated in full.
const SHOWN: usize = 500;

/// A value that is not what it must be: what is wrong, which rule, where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    message: String,
    rule: &'static str,
    schema: String,
    instance: String,
    value: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, rule, schema, instance, value } = self;
        write!(
            f,
            "{message} Failed validating '{rule}' in schema{schema}: On instance{instance}: {value}"
        )
    }
}

impl Fault {
    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The value that is wrong, as messages show it.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Where it stands, such as `aggregate.name` or `cache[0].id`; nothing for
    /// the whole.
    #[must_use]
    pub fn place(&self) -> String {
        let dotted = self.instance.replace("['", ".").replace("']", "");
        dotted.strip_prefix('.').unwrap_or(&dotted).to_owned()
    }

    fn new(rule: &'static str, value: &Value, message: String) -> Self {
        let mut shown = pytext::repr(value);
        if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
            shown.truncate(end);
            shown.push_str("...");
        }
        let (schema, instance) = (String::new(), String::new());
        Self { message, rule, schema, instance, value: shown }
    }

    fn of_object(rule: &'static str, map: &Map<String, Value>, message: String) -> Self {
        Self::new(rule, &Value::Object(map.clone()), message)
    }

    pub(super) fn kind(value: &Value, kind: &str) -> Self {
        Self::new("type", value, format!("{} is not of type '{kind}'", pytext::repr(value)))
    }

    pub(super) fn missing(name: &str, map: &Map<String, Value>) -> Self {
        Self::of_object("required", map, format!("'{name}' is a required property"))
    }

    pub(super) fn too_few_properties(map: &Map<String, Value>) -> Self {
        let shown = pytext::repr(&Value::Object(map.clone()));
        Self::of_object("minProperties", map, format!("{shown} should be non-empty"))
    }

    pub(super) fn too_few_items(value: &Value) -> Self {
        Self::new("minItems", value, format!("{} should be non-empty", pytext::repr(value)))
    }

    pub(super) fn too_many_items(value: &Value, max: usize) -> Self {
        let len = value.as_array().map_or(0, Vec::len);
        let message = format!("a list of {len} is too long: expected at most {max} items");
        Self::new("maxItems", value, message)
    }

    pub(super) fn no_flag(value: &Value) -> Self {
        let message = format!("{} is neither true nor false", pytext::repr(value));
        Self::new("enum", value, message)
    }

    pub(super) fn surplus(
        names: &[&str],
        patterns: &[(Pattern, &super::Schema)],
        map: &Map<String, Value>,
    ) -> Self {
        let listed = quoted(names.iter().copied());
        let message = if patterns.is_empty() {
            let verb = if names.len() == 1 { "was" } else { "were" };
            format!("Additional properties are not allowed ({listed} {verb} unexpected)")
        } else {
            let mut regexes: Vec<String> = patterns.iter().map(|(p, _)| p.regex()).collect();
            regexes.sort();
            let verb = if names.len() == 1 { "does" } else { "do" };
            let regexes = quoted(regexes.iter().map(String::as_str));
            format!("{listed} {verb} not match any of the regexes: {regexes}")
        };
        Self::of_object("additionalProperties", map, message)
    }

    pub(super) fn repeated(value: &Value) -> Self {
        let shown = pytext::repr(value);
        Self::new("uniqueItems", value, format!("{shown} has non-unique elements"))
    }

    pub(super) fn too_short(value: &Value, min: usize) -> Self {
        let shown = pytext::repr(value);
        let message = if min == 1 {
            format!("{shown} should be non-empty")
        } else {
            format!("{shown} is too short: expected at least {min} characters")
        };
        Self::new("minLength", value, message)
    }

    pub(super) fn too_long(value: &Value, max: usize) -> Self {
        let message =
            format!("{} is too long: expected at most {max} characters", pytext::repr(value));
        Self::new("maxLength", value, message)
    }

    pub(super) fn other_form(value: &Value, pattern: Pattern) -> Self {
        let mut message = format!("{} does not match '{}'", pytext::repr(value), pattern.regex());
        if let Some(words) = pattern.words() {
            message.push_str(": expected ");
            message.push_str(words);
        }
        Self::new("pattern", value, message)
    }

    pub(super) fn no_uuid(value: &Value) -> Self {
        Self::new("format", value, format!("{} is not a 'uuid'", pytext::repr(value)))
    }

    pub(super) fn not_listed(value: &Value, listed: &[&str]) -> Self {
        let listed = quoted(listed.iter().copied());
        Self::new("enum", value, format!("{} is not one of [{listed}]", pytext::repr(value)))
    }

    pub(super) fn below(value: &Value, min: &str) -> Self {
        let shown = pytext::repr(value);
        Self::new("minimum", value, format!("{shown} is less than the minimum of {min}"))
    }

    pub(super) fn above(value: &Value, max: &str) -> Self {
        let shown = pytext::repr(value);
        Self::new("maximum", value, format!("{shown} is greater than the maximum of {max}"))
    }

    pub(super) fn inside_property(self, known: &str, name: &str) -> Self {
        self.inside(&format!("['properties']['{known}']"), &format!("['{name}']"))
    }

    pub(super) fn inside_pattern(self, pattern: Pattern, name: &str) -> Self {
        let schema = format!("['patternProperties']['{}']", pattern.regex());
        self.inside(&schema, &format!("['{name}']"))
    }

    pub(super) fn inside_item(self, place: usize) -> Self {
        self.inside("['items']", &format!("[{place}]"))
    }

    fn inside(mut self, schema: &str, instance: &str) -> Self {
        self.schema.insert_str(0, schema);
        self.instance.insert_str(0, instance);
        self
    }
}

/// A float as messages show it.
pub(super) fn float(number: f64) -> String {
    pytext::repr_float(number)
}

fn quoted<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.map(|text| format!("'{text}'")).collect::<Vec<_>>().join(", ")
}

//! The arguments of a plugin or action: the free keys of `[batch:<name>]`.

use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// What `[batch:<name>]` says.
///
/// An argument whose value is a JSON object stands for one argument per member,
/// with a dot between the names: `sra = {"weight": 2}` is `sra.weight = 2`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    plugin: &'static str,
    values: BTreeMap<String, String>,
    /// What was asked for: all other arguments do not exist.
    asked: RefCell<BTreeSet<String>>,
}

/// An argument that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("[batch:{plugin}] {name} = {value}: expected {expected}")]
pub struct ArgumentFault {
    plugin: &'static str,
    name: String,
    value: String,
    expected: String,
}

impl Arguments {
    /// Arguments of a plugin, as written.
    #[must_use]
    pub fn new(plugin: &'static str, given: BTreeMap<String, String>) -> Self {
        let mut values = BTreeMap::new();
        for (name, text) in given {
            match serde_json::from_str(&text) {
                Ok(Value::Object(members)) => flatten(&name, members, &mut values),
                _ => {
                    values.insert(name, text);
                }
            }
        }
        Self { plugin, values, asked: RefCell::default() }
    }

    /// An argument as written, without blanks around it.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.asked.borrow_mut().insert(name.to_owned());
        self.values.get(name).map(|value| value.trim())
    }

    /// A list separated by commas; empty when it is not given.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        let items = self.text(name).unwrap_or_default().split(',').map(str::trim);
        items.filter(|item| !item.is_empty())
    }

    /// What stands behind `prefix` in the names of arguments, in order: all
    /// such arguments exist.
    #[must_use]
    pub fn names_under(&self, prefix: &str) -> Vec<&str> {
        let names = self.values.keys().filter_map(|name| name.strip_prefix(prefix));
        names.filter(|rest| !rest.is_empty()).collect()
    }

    /// Whether something is on.
    ///
    /// # Errors
    /// Neither true nor false.
    pub fn switch(&self, name: &str, default: bool) -> Result<bool, ArgumentFault> {
        match self.text(name).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(default),
            Some("true" | "yes" | "on" | "1") => Ok(true),
            Some("false" | "no" | "off" | "0") => Ok(false),
            Some(_) => Err(self.fault(name, "true or false")),
        }
    }

    /// A whole number, be it written as one or as `1.0`.
    ///
    /// # Errors
    /// No whole number.
    pub fn number(&self, name: &str, default: i64) -> Result<i64, ArgumentFault> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let whole = text.split_once('.').map_or(Some(text), |(whole, fraction)| {
            fraction.bytes().all(|digit| digit == b'0').then_some(whole)
        });
        let parsed = whole.and_then(|whole| i64::from_str(whole).ok());
        parsed.ok_or_else(|| self.fault(name, "a whole number"))
    }

    /// A whole number of 0 or more.
    ///
    /// # Errors
    /// No whole number, or a negative one.
    pub fn weight(&self, name: &str, default: i64) -> Result<i64, ArgumentFault> {
        let weight = self.number(name, default)?;
        if weight < 0 { Err(self.fault(name, "a whole number of 0 or more")) } else { Ok(weight) }
    }

    /// A number, whole or not.
    ///
    /// # Errors
    /// No number.
    pub fn decimal(&self, name: &str, default: f64) -> Result<f64, ArgumentFault> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => f64::from_str(text)
                .ok()
                .filter(|number| number.is_finite())
                .ok_or_else(|| self.fault(name, "a number")),
        }
    }

    /// A number within bounds, these included.
    ///
    /// # Errors
    /// No such number.
    pub fn bounded(
        &self,
        name: &str,
        default: f64,
        (least, most): (f64, f64),
    ) -> Result<f64, ArgumentFault> {
        let number = self.decimal(name, default)?;
        let fits = (least..=most).contains(&number);
        let expected = || match most.is_finite() {
            true => format!("a number from {least} to {most}"),
            false => format!("a number of {least} or more"),
        };
        if fits { Ok(number) } else { Err(self.fault(name, &expected())) }
    }

    /// A duration above 0 such as `1m30s`, in microseconds.
    ///
    /// # Errors
    /// No duration, or none above 0.
    pub fn duration(&self, name: &str, default: i64) -> Result<i64, ArgumentFault> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let micros = super::duration::duration(text).filter(|micros| *micros > 0);
        micros.ok_or_else(|| self.fault(name, "a duration above 0 such as 1m30s"))
    }

    /// What is wrong with an argument: what was expected of it.
    #[must_use]
    pub fn fault(&self, name: &str, expected: &str) -> ArgumentFault {
        ArgumentFault {
            plugin: self.plugin,
            name: name.to_owned(),
            value: self.values.get(name).map(|value| value.trim()).unwrap_or_default().to_owned(),
            expected: expected.to_owned(),
        }
    }

    /// Refuses what is given and nobody has asked for; to be called when all is
    /// read.
    ///
    /// # Errors
    /// The first argument that does not exist, with the nearest that does.
    pub fn check_names(&self) -> Result<(), ArgumentFault> {
        let asked = self.asked.borrow();
        let Some(name) = self.values.keys().find(|name| !asked.contains(*name)) else {
            return Ok(());
        };
        let likeness = |known: &&String| strsim::damerau_levenshtein(known, name);
        Err(match asked.iter().min_by_key(likeness) {
            Some(nearest) => {
                self.fault(name, &format!("an argument that exists; the nearest is {nearest}"))
            }
            None => self.fault(name, "no arguments at all"),
        })
    }
}

fn flatten(
    prefix: &str,
    members: serde_json::Map<String, Value>,
    values: &mut BTreeMap<String, String>,
) {
    for (name, value) in members {
        let name = format!("{prefix}.{name}");
        match value {
            Value::Object(members) => flatten(&name, members, values),
            Value::String(text) => {
                values.insert(name, text);
            }
            other => {
                values.insert(name, other.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(given: &[(&str, &str)]) -> Arguments {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Arguments::new("demo", given.collect())
    }

    #[test]
    fn objects_stand_for_their_members() {
        let given = arguments(&[("sra", r#"{"weight": 2, "by": {"a/b.c": 0.5}}"#), ("x", "{")]);
        assert_eq!(given.number("sra.weight", 1), Ok(2));
        assert_eq!(given.decimal("sra.by.a/b.c", 1.0), Ok(0.5));
        assert_eq!(given.text("x"), Some("{"));
        assert_eq!(given.names_under("sra."), ["by.a/b.c", "weight"]);
    }

    #[test]
    fn what_nobody_asks_for_does_not_exist() {
        let given = arguments(&[("weigth", "2")]);
        assert_eq!(given.number("weight", 1), Ok(1));
        assert_eq!(given.switch("strict", true), Ok(true));
        let fault = given.check_names().err().map(|fault| fault.to_string());
        let expected =
            "[batch:demo] weigth = 2: expected an argument that exists; the nearest is weight";
        assert_eq!(fault.as_deref(), Some(expected));
        assert!(given.number("weigth", 1).is_ok() && given.check_names().is_ok());
    }

    #[test]
    fn bounds() {
        let given = arguments(&[("part", "1.5"), ("weight", "-1"), ("period", "5"), ("ok", "2m")]);
        let told = |fault: Option<ArgumentFault>| fault.map(|fault| fault.expected);
        let part = given.bounded("part", 0.0, (0.0, 1.0)).err();
        assert_eq!(told(part).as_deref(), Some("a number from 0 to 1"));
        let factor = given.bounded("part", 2.0, (2.0, f64::INFINITY)).err();
        assert_eq!(told(factor).as_deref(), Some("a number of 2 or more"));
        assert!(given.weight("weight", 1).is_err() && given.duration("period", 1).is_err());
        assert_eq!(given.duration("ok", 1), Ok(120_000_000));
    }
}

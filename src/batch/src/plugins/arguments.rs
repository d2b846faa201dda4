//! The arguments of a plugin: the free keys of `[batch:<plugin>]`.

use std::collections::BTreeMap;
use std::str::FromStr;

/// What `[batch:<plugin>]` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    plugin: &'static str,
    values: BTreeMap<String, String>,
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
    pub fn new(plugin: &'static str, values: BTreeMap<String, String>) -> Self {
        Self { plugin, values }
    }

    /// An argument as written, without blanks around it.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|value| value.trim())
    }

    /// A list separated by commas; empty when it is not given.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        let items = self.text(name).unwrap_or_default().split(',').map(str::trim);
        items.filter(|item| !item.is_empty())
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

    /// What is wrong with an argument: what was expected of it.
    #[must_use]
    pub fn fault(&self, name: &str, expected: &str) -> ArgumentFault {
        ArgumentFault {
            plugin: self.plugin,
            name: name.to_owned(),
            value: self.text(name).unwrap_or_default().to_owned(),
            expected: expected.to_owned(),
        }
    }
}

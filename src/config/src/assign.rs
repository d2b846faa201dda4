//! Setting one option of a snapshot by its name: for the command line and for
//! the `config` of scenario files.

use serde_json::Value as Json;

use crate::error::OptionError;
use crate::load::PLUGIN_PREFIX;
use crate::names::nearest_option;
use crate::options::{Settings, options};
use crate::redact::{shown, shown_free};
use crate::sources::split_key;
use crate::spec::OptionSpec;
use crate::value::Input;

impl Settings {
    /// Sets `section.option`, or a bare name of `[DEFAULT]`, to what the text
    /// says, as a line of a file would.
    ///
    /// # Errors
    /// The name is unknown, or the value is not of the option's type and range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        match find(key)? {
            Target::Option(spec) => self.write(key, spec, Input::Texts(&[value.to_owned()])),
            Target::Plugin { plugin, option } => {
                self.batch_plugins.entry(plugin).or_default().insert(option, value.to_owned());
                Ok(())
            }
        }
    }

    /// Sets `section.option`, or a bare name of `[DEFAULT]`, to a JSON value:
    /// null is the default, items of a list are taken as they are.
    ///
    /// # Errors
    /// The name is unknown, or the value is not of the option's type and range.
    pub fn set_json(&mut self, key: &str, value: &Json) -> Result<(), OptionError> {
        let texts: Option<Vec<String>> = match (value, scalar(value)) {
            (_, Some(text)) => return self.set(key, &text),
            (Json::Null, None) => return self.reset(key),
            (Json::Array(items), None) => items.iter().map(item).collect(),
            (_, None) => None,
        };
        match (find(key)?, texts) {
            (Target::Option(spec), Some(texts)) => self.write(key, spec, Input::Items(&texts)),
            (Target::Plugin { .. } | Target::Option(_), _) => Err(OptionError::Value {
                key: key.to_owned(),
                value: value.to_string(),
                expected: "a boolean, a number, a text, a list of these, or null".to_owned(),
            }),
        }
    }

    /// Gives an option its default again.
    fn reset(&mut self, key: &str) -> Result<(), OptionError> {
        match find(key)? {
            Target::Option(spec) => {
                let mut texts = (spec.texts)(&Self::default(), &spec.meta);
                if texts.is_empty() {
                    texts.push(String::new());
                }
                self.write(key, spec, Input::Texts(&texts))
            }
            Target::Plugin { plugin, option } => {
                if let Some(keys) = self.batch_plugins.get_mut(&plugin) {
                    keys.remove(&option);
                }
                Ok(())
            }
        }
    }

    fn write(&mut self, key: &str, spec: &OptionSpec, input: Input<'_>) -> Result<(), OptionError> {
        (spec.write)(self, input, &spec.meta, &mut Vec::new()).map_err(|problem| {
            let (Input::Texts(texts) | Input::Items(texts)) = input;
            let shown: Vec<String> = texts.iter().map(|text| shown(spec, text)).collect();
            OptionError::Value {
                key: key.to_owned(),
                value: format!("\"{}\"", shown_free(key, &shown.join(", "))),
                expected: problem.expected,
            }
        })
    }
}

enum Target {
    Option(&'static OptionSpec),
    Plugin { plugin: String, option: String },
}

fn find(key: &str) -> Result<Target, OptionError> {
    let (section, option) = split_key(key);
    if let Some(plugin) = section.strip_prefix(PLUGIN_PREFIX) {
        return Ok(Target::Plugin { plugin: plugin.to_owned(), option });
    }
    options()
        .find(|spec| {
            (spec.section == section && spec.name == option)
                || spec.meta.older_names.contains(&(section.as_str(), option.as_str()))
        })
        .map(Target::Option)
        .ok_or_else(|| OptionError::Unknown {
            key: key.to_owned(),
            meant: nearest_option(&section, &option),
        })
}

/// A JSON value that is one text in a file.
fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::Bool(flag) => Some(flag.to_string()),
        Json::Number(number) => Some(number.to_string()),
        Json::String(text) => Some(text.clone()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// An item of a list; a list of lists holds tiers.
fn item(value: &Json) -> Option<String> {
    match value {
        Json::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(scalar).collect();
            Some(texts?.join(","))
        }
        _ => scalar(value),
    }
}

//! What `config check` and `config show` say.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use crate::error::ConfigErrors;
use crate::load::{Loaded, PLUGIN_PREFIX};
use crate::options::{SECTIONS, Settings};
use crate::redact::{shown, shown_free};
use crate::sources::Sources;
use crate::spec::OptionSpec;

/// How effective values are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShowFormat {
    /// As an INI file, the origin in a comment.
    #[default]
    Text,
    /// As one JSON object: section, option, `value` and `origin`.
    Json,
}

/// Text for a person and whether all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What to print, a newline at the end of each line.
    pub text: String,
    /// True if the configuration holds.
    pub is_ok: bool,
}

/// What a configuration that was read for a check says: all errors, or the
/// warnings and a summary.
pub fn check(loaded: Result<Loaded, ConfigErrors>) -> Report {
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(errors) => {
            let count = errors.0.len();
            return Report { text: format!("{errors}\n{count} wrong\n"), is_ok: false };
        }
    };
    let mut text = String::new();
    for warning in &loaded.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if !loaded.unused.is_empty() {
        let names: Vec<String> =
            loaded.unused.iter().map(|(section, option)| format!("[{section}] {option}")).collect();
        let _ = writeln!(
            text,
            "accepted without effect, as they are for other services: {}",
            names.join(", ")
        );
    }
    let _ = writeln!(
        text,
        "{} set, {} warned of, nothing wrong",
        loaded.origins.len(),
        loaded.warnings.len()
    );
    Report { text, is_ok: true }
}

/// Lists every option with its value in force and where it comes from, or all
/// errors.
pub fn show(sources: &Sources, format: ShowFormat) -> Report {
    match Settings::load(sources) {
        Ok(loaded) => Report { text: render_show(&loaded, format), is_ok: true },
        Err(errors) => Report { text: format!("{errors}\n"), is_ok: false },
    }
}

/// Every option with its value in force and where it comes from, passwords
/// hidden.
pub fn render_show(loaded: &Loaded, format: ShowFormat) -> String {
    match format {
        ShowFormat::Text => as_text(loaded),
        ShowFormat::Json => as_json(loaded),
    }
}

/// The texts of an option as they may be shown; none when it is unset.
fn texts(loaded: &Loaded, spec: &OptionSpec) -> Vec<String> {
    (spec.texts)(&loaded.settings, &spec.meta).iter().map(|text| shown(spec, text)).collect()
}

fn as_text(loaded: &Loaded) -> String {
    let mut out = String::new();
    for section in SECTIONS {
        let _ = writeln!(out, "[{}]", section.name);
        for spec in section.options {
            let origin = loaded.origin(spec.section, spec.name);
            let texts = texts(loaded, spec);
            if texts.is_empty() {
                let _ = writeln!(out, "#{} is unset", spec.name);
            }
            for text in texts {
                let text = text.replace('\n', "\n    ");
                let _ = writeln!(out, "# {origin}\n{} = {text}", spec.name);
            }
        }
        out.push('\n');
    }
    for (plugin, keys) in &loaded.settings.batch_plugins {
        let section = format!("{PLUGIN_PREFIX}{plugin}");
        let _ = writeln!(out, "[{section}]");
        for (key, value) in keys {
            let origin = loaded.origin(&section, key);
            let _ = writeln!(out, "# {origin}\n{key} = {}", shown_free(key, value));
        }
        out.push('\n');
    }
    out
}

fn as_json(loaded: &Loaded) -> String {
    let mut root = Map::new();
    for section in SECTIONS {
        let mut options = Map::new();
        for spec in section.options {
            let value = match texts(loaded, spec).as_slice() {
                [] => Json::Null,
                [text] => json!(text),
                texts => json!(texts),
            };
            let origin = loaded.origin(spec.section, spec.name).to_string();
            options.insert(spec.name.to_owned(), json!({ "value": value, "origin": origin }));
        }
        root.insert(section.name.to_owned(), Json::Object(options));
    }
    for (plugin, keys) in &loaded.settings.batch_plugins {
        let section = format!("{PLUGIN_PREFIX}{plugin}");
        let mut options = Map::new();
        for (key, value) in keys {
            let origin = loaded.origin(&section, key).to_string();
            let value = shown_free(key, value);
            options.insert(key.clone(), json!({ "value": value, "origin": origin }));
        }
        root.insert(section, Json::Object(options));
    }
    format!("{:#}\n", Json::Object(root))
}

//! Tests of the configuration as a whole, driven by tables.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod assign;
mod errors;
mod files;
mod layers;
mod reload;
mod sample;
mod urls;
mod values;

use crate::{ConfigErrors, Loaded, Settings, Sources};

/// What a file of this text gives.
fn load(text: &str) -> Result<Loaded, ConfigErrors> {
    Settings::load(&Sources::new().text("s.conf", text))
}

/// Warnings as they are printed.
fn warnings(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

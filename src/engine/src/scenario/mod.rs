//! Scenarios: hosts, a request and a configuration in a file, and what is
//! expected to come of them.
//!
//! The same engine runs offline on them: operators test their scheduling
//! policy that way, a live cloud can be replayed, and recorded decisions of
//! Nova's own scheduler are checked.

mod check;
mod evaluate;
pub mod hints;
mod host;
mod select;
mod service;
mod state;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use stowplan_config::{OptionError, Settings};
use stowplan_model::Micros;
use stowplan_model::host::HostReport;
use stowplan_model::request::ScheduleRequest;

pub use check::{Difference, Expected, check};
pub use evaluate::{Failure, Outcome, Result, Selection, evaluate};
pub use host::{Candidate, ScenarioHost};
pub use select::{
    Destination, Destinations, ExpectedDestinations, SelectScenario, check_destinations,
};
pub use state::HostState;

use crate::fault::{Fault, StageFault};
use crate::hint::{Hint, from_annotations};

/// One scenario: of the select form, or with `compute_node` of the state form.
/// Keys that are not listed are let pass.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Name of the case.
    pub id: String,
    /// What it is about.
    #[serde(default)]
    pub note: Option<String>,
    /// Hosts in the order in which equal weights keep them.
    #[serde(default)]
    pub hosts: Vec<ScenarioHost>,
    /// The record of a compute node: the scenario asks for its state and for
    /// what the request's server leaves of it, not for a choice.
    #[serde(default)]
    pub compute_node: Option<HostReport>,
    /// The request; what is missing has the defaults of [`complete`].
    #[serde(default)]
    request: Map<String, Value>,
    /// Options by `section.name` (or a bare name of `[DEFAULT]`); others have
    /// the values they are evaluated with.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// Filters in their order; absent means those of the settings.
    #[serde(default)]
    pub filters: Option<Vec<String>>,
    /// Weighers in the order of their sum; absent means none, where the
    /// scenario lists filters, else those of the settings.
    #[serde(default)]
    pub weighers: Option<Vec<String>>,
    /// The request's scheduling hint.
    #[serde(default)]
    hint: Option<Hint>,
    /// Annotations in which the hint stands where there is none besides.
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    /// Place of the server in its request: from 1 on, filters that judge once
    /// per request are skipped.
    #[serde(default)]
    pub index: usize,
    /// The present, microseconds since the epoch.
    #[serde(default = "new_year")]
    pub now: Micros,
    /// Seed of every draw.
    #[serde(default)]
    pub seed: u64,
    /// Resource providers. Whoever has them computes the candidates of hosts
    /// without the key `candidates` before the scenario is evaluated.
    #[serde(default)]
    pub providers: Option<Value>,
    /// What is expected to come of it.
    #[serde(default)]
    pub expect: Option<Expected>,
}

/// A present for scenarios that name none: their times count back from it.
#[must_use]
pub const fn new_year() -> Micros {
    Micros::from_seconds(1_767_225_600)
}

/// Why a file holds no scenarios.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Not JSON, or a field of another type.
    #[error("not a scenario or a list of scenarios: {0}")]
    Form(#[from] serde_json::Error),
    /// A list of none.
    #[error("not a scenario or a list of scenarios: the list is empty")]
    Nothing,
    /// One scenario of a list has a field of another type.
    #[error("scenario {place} ({id}): {error}")]
    Item {
        /// Place in the list, from 1.
        place: usize,
        /// Its id, as far as it has one.
        id: String,
        /// What is wrong.
        error: serde_json::Error,
    },
}

/// The scenarios in a file's text, one or a list of them, each read by `read`.
///
/// # Errors
/// The text is not JSON, or what `read` says of one.
pub fn parse_with<T>(
    text: &str,
    read: impl Fn(Value) -> serde_json::Result<T>,
) -> std::result::Result<Vec<T>, ScenarioError> {
    let items = match serde_json::from_str(text)? {
        Value::Array(items) if items.is_empty() => return Err(ScenarioError::Nothing),
        Value::Array(items) => items,
        single => vec![single],
    };
    let scenarios = items.into_iter().enumerate().map(|(n, item)| {
        let id = item
            .get("id")
            .or_else(|| item.get("name"))
            .and_then(Value::as_str)
            .unwrap_or("without id");
        let id = id.to_owned();
        read(item).map_err(|error| ScenarioError::Item { place: n + 1, id, error })
    });
    scenarios.collect()
}

/// Reads a file's text: one scenario, or a list of them.
///
/// # Errors
/// The text is not JSON or something in it is not of its type.
pub fn parse(text: &str) -> std::result::Result<Vec<Scenario>, ScenarioError> {
    parse_with(text, Scenario::read)
}

/// What a request of a scenario has where it says nothing.
const REQUEST: &str = r#"{
    "instance_uuid": "99999999-9999-4999-8999-999999999999",
    "project_id": "p0",
    "user_id": "u0"
}"#;

/// What a flavor of a scenario has where it says nothing.
const FLAVOR: &str = r#"{"name": "m1", "vcpus": 1, "memory_mb": 512, "root_gb": 1}"#;

impl Scenario {
    /// A scenario of its JSON value.
    ///
    /// # Errors
    /// A field that is missing or not of its type.
    pub fn read(item: Value) -> serde_json::Result<Self> {
        let has_form = ["hosts", "compute_node"].iter().any(|key| item.get(key).is_some());
        if !has_form {
            return Err(serde::de::Error::custom("expected hosts, or a compute_node"));
        }
        serde_path_to_error::deserialize(item).map_err(|error| {
            let place = error.path().to_string();
            match place.as_str() {
                "." => error.into_inner(),
                place => serde::de::Error::custom(format!("{place}: {}", error.inner())),
            }
        })
    }

    /// The settings that it is evaluated with: those of `base`, then its own,
    /// then `overrides` (`section.name` and value).
    ///
    /// # Errors
    /// An option that does not exist, or a value that it cannot have.
    pub fn settings(
        &self,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> std::result::Result<Settings, OptionError> {
        let mut settings = base.clone();
        for (key, value) in &self.config {
            settings.set_json(key, value)?;
        }
        if let Some(filters) = &self.filters {
            settings.filter_scheduler.enabled_filters.clone_from(filters);
            settings.filter_scheduler.weight_classes.clear();
        }
        if let Some(weighers) = &self.weighers {
            settings.filter_scheduler.weight_classes.clone_from(weighers);
        }
        for (key, value) in overrides {
            settings.set(key, value)?;
        }
        Ok(settings)
    }

    /// The scheduling hint, wherever it stands.
    ///
    /// # Errors
    /// An annotation that holds no hint.
    pub fn hint(&self) -> std::result::Result<Option<Hint>, StageFault> {
        if self.hint.is_some() {
            return Ok(self.hint.clone());
        }
        match from_annotations(&self.annotations) {
            Ok(found) => Ok(found.map(|found| found.hint)),
            Err(error) => Err(StageFault::request(Fault::value(error.to_string()))),
        }
    }

    /// The request, completed.
    ///
    /// # Errors
    /// A field that is not of its type.
    pub fn request(&self) -> std::result::Result<ScheduleRequest, StageFault> {
        complete(&self.request)
    }
}

/// A scenario's request, completed: a server and a project of fixed names, a
/// flavor m1 of 1 CPU, 512 MiB and 1 GiB of root disk (single keys may be
/// missing), no image, all else null or empty.
///
/// # Errors
/// A field that is not of its type.
pub fn complete(request: &Map<String, Value>) -> std::result::Result<ScheduleRequest, StageFault> {
    let wrong = |error: serde_json::Error| StageFault::request(Fault::value(error.to_string()));
    let mut whole: Map<String, Value> = serde_json::from_str(REQUEST).map_err(wrong)?;
    let mut flavor: Map<String, Value> = serde_json::from_str(FLAVOR).map_err(wrong)?;
    whole.extend(request.clone());
    if let Some(Value::Object(given)) = whole.remove("flavor") {
        flavor.extend(given);
    }
    whole.insert("flavor".to_owned(), Value::Object(flavor));
    serde_json::from_value(Value::Object(whole)).map_err(wrong)
}

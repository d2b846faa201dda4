//! Scenarios of batch scheduling: clusters with queues and jobs, one cycle (or
//! two), and what is expected to come of it.
//!
//! The form is that of recorded cases. No default of the REST model applies: a
//! job without `min_resources` has none, one without a priority has 0. Amounts
//! are exact unless the scenario names a `resource_map` (rule 1), queues share
//! what is physically there (rule 5), and gangs keep their floors as victims
//! unless the scenario says otherwise (rule 15b).

mod amounts;
mod build;
mod check;
mod cluster;
mod cycle;
mod deviations;
mod export;
mod hosts;
mod mocks;
mod outcome;
mod probe;
mod task;
mod tiers;
mod topology;
pub mod units;

pub use check::check;
pub use deviations::{Deviation, Deviations};
pub use export::export;
pub use outcome::Outcome;

use crate::actions::ActionFault;
use crate::amounts::DimsFault;
use crate::plugins::PluginFault;
use cluster::{Cluster, JobInput};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use stowplan_config::{OptionError, Settings};
use stowplan_engine::config::EngineConfig;
use stowplan_engine::fault::Fault;
use stowplan_engine::scenario::Difference;
use thiserror::Error;

/// Keys that tell a scenario of this form.
const KEYS: [&str; 3] = ["nodes", "queues", "jobs"];

/// One scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchScenario {
    /// Its name.
    #[serde(alias = "name")]
    pub id: String,
    /// What it is about.
    #[serde(default)]
    pub note: Option<String>,
    /// Where it comes from.
    #[serde(default)]
    pub source: Option<String>,
    #[serde(flatten)]
    cluster: Cluster,
    #[serde(flatten)]
    policy: Policy,
    /// What is expected of it.
    #[serde(default)]
    pub expect: Option<Map<String, Value>>,
    /// A second cycle.
    #[serde(default)]
    then: Option<Then>,
}

/// How a cycle goes.
#[derive(Clone, Debug, Default, Deserialize)]
struct Policy {
    /// Options, by `section.name`.
    #[serde(default)]
    config: BTreeMap<String, Value>,
    /// Plugins in tiers; without any, those of the configuration.
    #[serde(default)]
    tiers: Option<Vec<Vec<tiers::PluginInput>>>,
    /// Actions in order; without any, those of the configuration.
    #[serde(default)]
    actions: Option<Vec<String>>,
    #[serde(default)]
    action_arguments: Vec<ActionArguments>,
    #[serde(default)]
    mock_plugins: BTreeMap<String, mocks::Mock>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionArguments {
    action: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// A second cycle, which starts from what the first one left.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Then {
    #[serde(default, rename = "note")]
    _note: Option<String>,
    #[serde(default)]
    add_jobs: Vec<JobInput>,
    #[serde(default)]
    actions: Option<Vec<String>>,
    #[serde(default)]
    expect: Option<Map<String, Value>>,
}

/// Why nothing comes of a scenario.
#[derive(Debug, Error)]
pub enum BatchFailure {
    /// An option that cannot be set.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A plugin.
    #[error(transparent)]
    Plugin(#[from] PluginFault),
    /// An action.
    #[error(transparent)]
    Action(#[from] ActionFault),
    /// A dimension.
    #[error(transparent)]
    Dims(#[from] DimsFault),
    /// A host or task that cannot be judged.
    #[error("{}", .0.message)]
    Judge(Fault),
    /// Something in the scenario that cannot be.
    #[error("{0}")]
    Input(String),
}

/// What came of the cycles.
#[derive(Debug, serde::Serialize)]
pub struct Outcomes {
    /// Of the first.
    pub first: Outcome,
    /// Of the second, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Outcome>,
}

impl Outcomes {
    /// One after the other.
    pub fn each(&self) -> impl Iterator<Item = &Outcome> {
        [&self.first].into_iter().chain(&self.second)
    }
}

impl BatchScenario {
    /// Whether a JSON value is a scenario of this form.
    #[must_use]
    pub fn is_one(item: &Value) -> bool {
        KEYS.iter().all(|key| item.get(key).is_some()) && item.get("victims").is_none()
    }

    /// Runs its cycles, on settings: those of `base`, then the scenario's own,
    /// then `overrides` (`section.name` and value).
    ///
    /// # Errors
    /// An option, plugin, action or amount that cannot be.
    pub fn evaluate(
        &self,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> Result<Outcomes, BatchFailure> {
        let mut settings = base.clone();
        for (key, value) in &self.policy.config {
            settings.set_json(key, value)?;
        }
        for (key, value) in overrides {
            settings.set(key, value)?;
        }
        let engine = EngineConfig::from(&settings);
        let run = cycle::Run { settings: &settings, engine: &engine, policy: &self.policy };
        let first = run.cycle(&self.cluster, self.policy.actions.as_deref())?;
        let second = match &self.then {
            None => None,
            Some(then) => {
                let mut cluster = first.after(&self.cluster);
                cluster.jobs.extend(then.add_jobs.iter().cloned());
                let actions = then.actions.as_deref().or(self.policy.actions.as_deref());
                Some(run.cycle(&cluster, actions)?)
            }
        };
        Ok(Outcomes { first, second })
    }

    /// What came out differently than expected; none when nothing is expected.
    #[must_use]
    pub fn differences(&self, came: Result<&Outcomes, &BatchFailure>) -> Option<Vec<Difference>> {
        let expected = self.expect.as_ref()?;
        let came = match came {
            Ok(came) => came,
            Err(failure) => {
                return Some(vec![Difference {
                    what: "the scenario".to_owned(),
                    expected: Value::Object(expected.clone()),
                    got: failure.to_string().into(),
                }]);
            }
        };
        let mut all = check(expected, &came.first);
        let then = self.then.as_ref().and_then(|then| then.expect.as_ref());
        if let (Some(expected), Some(second)) = (then, &came.second) {
            let later = check(expected, second).into_iter();
            all.extend(later.map(|d| Difference { what: format!("then: {}", d.what), ..d }));
        }
        Some(all)
    }
}

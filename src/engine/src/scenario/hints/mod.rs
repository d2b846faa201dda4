//! Scenarios of scheduling hints: each of the forms asks for one step of what
//! becomes of a hint, the last for all of them.

mod check;
mod cloud;
mod forms;

use std::result::Result as Either;

use serde::Deserialize;
use serde_json::{Map, Value};
use stowplan_config::{OptionError, Settings};

pub use check::check_hint;

use crate::fault::StageFault;
use crate::hint::HintError;
use crate::registry::RegistryError;

/// One scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct HintScenario {
    /// Name of the case.
    #[serde(alias = "name")]
    pub id: String,
    /// What it is about.
    #[serde(default)]
    pub note: Option<String>,
    /// Options by `section.name`.
    #[serde(default)]
    config: Map<String, Value>,
    /// What is expected to come of it.
    #[serde(default)]
    pub expect: Option<Map<String, Value>>,
    /// What it holds by its form.
    #[serde(flatten)]
    given: Map<String, Value>,
}

/// What comes of a scenario, by the names that expectations have for it.
pub type Came = Map<String, Value>;

/// Why nothing came of a scenario, or an error did, which may be expected.
#[derive(Debug, thiserror::Error)]
pub enum HintFailure {
    /// An option cannot be set.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A weigher that is not there.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// An annotation holds no hint.
    #[error(transparent)]
    Hint(#[from] HintError),
    /// The hint could not be read by whoever decided before.
    #[error("the decision on the hint was an error")]
    Decision,
    /// A filter or weigher cannot judge.
    #[error(transparent)]
    Request(#[from] StageFault),
    /// Something in it is not of its type.
    #[error("not of this form: {0}")]
    Form(#[from] serde_json::Error),
}

/// Evaluates what a scenario of one form holds.
type Evaluates = fn(Value, &Settings) -> Either<Came, HintFailure>;

/// A form: the keys that a scenario of it has, and its evaluation.
struct Form {
    keys: &'static [&'static str],
    evaluate: Evaluates,
}

/// The forms. A scenario is of the first whose keys it has all of.
const FORMS: [Form; 6] = [
    Form { keys: &["nodes", "task"], evaluate: forms::schedule },
    Form { keys: &["decision", "try_in_order"], evaluate: forms::attempt },
    Form { keys: &["preferred_node_names"], evaluate: forms::preferred },
    Form { keys: &["node_names"], evaluate: forms::required },
    Form { keys: &["annotations"], evaluate: forms::parse },
    Form { keys: &["max_hint_nodes"], evaluate: forms::args },
];
/// Keys of scenarios of other kinds.
const OTHERS: [&str; 3] = ["hosts", "compute_node", "compute_nodes"];

impl HintScenario {
    /// Whether a JSON value is a scenario of one of these forms.
    #[must_use]
    pub fn is_one(item: &Value) -> bool {
        let has = |key: &&str| item.get(key).is_some();
        !OTHERS.iter().any(has) && FORMS.iter().any(|form| form.keys.iter().all(has))
    }

    /// Evaluates it, on settings: those of `base`, then the scenario's own,
    /// then `overrides` (`section.name` and value).
    ///
    /// # Errors
    /// The cycle ends with an error, an option cannot be set, or something in
    /// the scenario is not of its type.
    pub fn evaluate(
        &self,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> Either<Came, HintFailure> {
        let mut settings = base.clone();
        for (key, value) in &self.config {
            settings.set_json(key, value)?;
        }
        for (key, value) in overrides {
            settings.set(key, value)?;
        }
        let has = |key: &&str| self.given.contains_key(*key);
        let form = FORMS.iter().find(|form| form.keys.iter().all(has));
        let form = form.ok_or_else(|| serde::de::Error::custom("no form has these keys"));
        (form.map_err(HintFailure::Form)?.evaluate)(Value::Object(self.given.clone()), &settings)
    }
}

//! Recorded cases of single rules, without a cluster.

mod gang;
mod math;
mod shares;
mod victims;

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use stowplan_engine::config::EngineConfig;
use stowplan_engine::scenario::Difference;

/// What a case comes to, by the name of the expectation.
pub type Came = BTreeMap<String, Value>;

/// A form of such cases: the keys by which it is known, what it may not have,
/// and what computes it.
struct Form {
    keys: &'static [&'static str],
    compute: fn(&UnitCase, &EngineConfig) -> Result<Came, String>,
}

const FORMS: &[Form] = &[
    Form { keys: &["op", "left", "args"], compute: math::compute },
    Form { keys: &["deserved", "allocated"], compute: shares::share },
    Form { keys: &["min_resources", "allocated_internal_units"], compute: shares::inqueue },
    Form { keys: &["candidates", "tiers"], compute: victims::vote },
    Form { keys: &["victims", "jobs", "nodes"], compute: victims::order },
    Form { keys: &["min_available", "task_counts_by_state"], compute: gang::compute },
    Form { keys: &["min_available", "tasks"], compute: gang::compute },
];

/// One case.
#[derive(Clone, Debug)]
pub struct UnitCase {
    /// Its name.
    pub id: String,
    /// What it is about.
    pub note: Option<String>,
    fields: Map<String, Value>,
}

impl UnitCase {
    /// A case, if a JSON value is one.
    #[must_use]
    pub fn read(item: &Value) -> Option<Self> {
        let fields = item.as_object()?;
        form(fields)?;
        let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let id = text("name").or_else(|| text("source")).unwrap_or_default();
        Some(Self { id, note: text("note"), fields: fields.clone() })
    }

    /// What it comes to.
    ///
    /// # Errors
    /// Something in it that cannot be.
    pub fn evaluate(&self, engine: &EngineConfig) -> Result<Came, String> {
        let form = form(&self.fields).ok_or("a case of no known form")?;
        (form.compute)(self, engine)
    }

    /// What came out differently than expected; none when nothing is expected.
    #[must_use]
    pub fn differences(&self, came: &Result<Came, String>) -> Option<Vec<Difference>> {
        let expected = self.fields.get("expect")?.as_object()?;
        let none = Came::new();
        let (came, fault) = match came {
            Ok(came) => (came, Value::Null),
            Err(fault) => (&none, json!(fault)),
        };
        let differs = |(what, expected): (&String, &Value)| {
            let got = came.get(what).unwrap_or(&fault);
            (!same(expected, got)).then(|| Difference {
                what: what.clone(),
                expected: expected.clone(),
                got: got.clone(),
            })
        };
        Some(expected.iter().filter_map(differs).collect())
    }

    fn field(&self, name: &str) -> &Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }
}

fn form(fields: &Map<String, Value>) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.keys.iter().all(|key| fields.contains_key(*key)))
}

/// Equal, numbers by value and lists of names in whatever order.
fn same(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().all(|item| b.contains(item))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => expected == got,
    }
}

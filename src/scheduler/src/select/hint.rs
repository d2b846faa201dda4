//! The scheduling hint of a request: read from its own field or from
//! annotations, and what is said of it afterwards.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use stowplan_engine::hint::{HintTrace, from_annotations};
use stowplan_engine::{Explanation, Hint};

use super::bounds::MAX_LISTED;
use crate::fields::FieldErrors;

/// The longest name of a host.
const MAX_NAME: usize = 255;

/// Hosts that servers must or would rather have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct SchedulingHint {
    /// Hosts to choose from, in any letter case; all filters are asked. Empty
    /// means all hosts.
    pub node_names: Vec<String>,
    /// Hosts to be tried first, one after the other with all filters; the
    /// first that passes is taken. If none does, hosts are chosen as without a
    /// hint.
    pub preferred_node_names: Vec<String>,
    /// For whoever knows what it means; nothing here reads it.
    #[schema(value_type = Object)]
    pub extensions: Map<String, Value>,
}

impl SchedulingHint {
    /// What is kept of a hint: its extensions may hold anything.
    pub(super) fn names_of(hint: &Hint) -> Self {
        Self {
            node_names: hint.node_names.clone(),
            preferred_node_names: hint.preferred_node_names.clone(),
            extensions: Map::new(),
        }
    }

    /// Checks the names; `place` is the field that holds the hint. What is
    /// wrong goes to `errors`.
    pub fn check(&self, errors: &mut FieldErrors, place: &str) {
        let lists =
            [("nodeNames", &self.node_names), ("preferredNodeNames", &self.preferred_node_names)];
        for (list, names) in lists {
            errors.require_few(format!("{place}.{list}"), names.len(), MAX_LISTED);
            for (at, name) in names.iter().enumerate() {
                errors.require(
                    (1..=MAX_NAME).contains(&name.len()),
                    format!("{place}.{list}[{at}]"),
                    name,
                    format!("the name of a host, 1 to {MAX_NAME} bytes"),
                );
            }
        }
    }
}

impl From<Hint> for SchedulingHint {
    fn from(hint: Hint) -> Self {
        let Hint { node_names, preferred_node_names, extensions } = hint;
        Self { node_names, preferred_node_names, extensions }
    }
}

impl From<SchedulingHint> for Hint {
    fn from(hint: SchedulingHint) -> Self {
        let SchedulingHint { node_names, preferred_node_names, extensions } = hint;
        Self { node_names, preferred_node_names, extensions }
    }
}

/// What became of the hint for one server.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct HintAnswer {
    /// `used`, `nothing_preferred`, `planned`, `nothing_to_try` or
    /// `none_passed`.
    pub outcome: String,
    /// The same as a sentence.
    pub text: String,
}

impl From<&HintTrace> for HintAnswer {
    fn from(trace: &HintTrace) -> Self {
        Self { outcome: trace.outcome.as_str().to_owned(), text: trace.text.clone() }
    }
}

/// A hint, with what its sender should know.
#[derive(Clone, Debug, Default)]
pub struct Hinted {
    /// The hint, if there is one.
    pub hint: Option<Hint>,
    /// That it came in an old form.
    pub warning: Option<String>,
}

impl Hinted {
    /// The hint of a request, a job or a role, whichever way it came: in its
    /// field `hint` or as an annotation, not both. What is wrong goes to
    /// `errors`, with `place` before the names of fields.
    pub fn check(
        errors: &mut FieldErrors,
        place: &str,
        asked: Option<&SchedulingHint>,
        annotations: &BTreeMap<String, String>,
    ) -> Self {
        let found = match from_annotations(annotations) {
            Ok(found) => found,
            Err(error) => {
                let expected = format!("a scheduling hint as a JSON object ({})", error.error);
                errors.add(annotation(place, error.key), &error.value, expected);
                return Self::default();
            }
        };
        let Some(found) = found else {
            let field = format!("{place}hint");
            asked.iter().for_each(|hint| hint.check(errors, &field));
            return Self { hint: asked.cloned().map(Hint::from), warning: None };
        };
        let annotation = annotation(place, found.key);
        errors.require(
            asked.is_none(),
            format!("{place}hint"),
            &asked,
            format!("nothing, as {annotation} holds a hint"),
        );
        let warning = found.warning();
        let hint = SchedulingHint::from(found.hint);
        hint.check(errors, &annotation);
        Self { warning, hint: Some(hint.into()) }
    }
}

/// The place of an annotation in the body.
fn annotation(place: &str, key: &str) -> String {
    format!("{place}annotations.{key}")
}

/// Names of a server's hint that count for nothing, in sentences.
pub(super) fn dropped(explanation: &Explanation) -> impl Iterator<Item = String> + '_ {
    explanation.hint.iter().flat_map(|hint| {
        let more = (hint.more_dropped > 0)
            .then(|| format!("{} further names of the hint are passed over", hint.more_dropped));
        hint.dropped.iter().map(ToString::to_string).chain(more)
    })
}

//! Compares what came of a scenario with what was expected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stowplan_model::pyvalue;

use super::evaluate::{Failure, Outcome, Result, Selection};
use super::state::HostState;
use crate::explain::WeightRow;

/// What a scenario expects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Expected {
    /// Hosts that pass, as `host/node`, in order.
    filtered: Option<Vec<String>>,
    /// The filter that eliminates each other host.
    eliminated_by: Option<BTreeMap<String, String>>,
    /// Hosts by weight.
    weighed: Option<Vec<ExpectedWeight>>,
    /// Candidates that stand, by host.
    candidates: Option<BTreeMap<String, Vec<u32>>>,
    /// Attributes of a host as reported.
    state: Option<Map<String, Value>>,
    /// The same after the server was placed.
    after_consume: Option<Map<String, Value>>,
    /// What becomes of the request's hint, by the name of its outcome.
    hint: Option<String>,
    /// The request fails.
    error: Option<ExpectedError>,
    /// What this form does not compare: it must not pass unseen.
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
struct ExpectedWeight {
    host: String,
    weight: Value,
    /// By weigher: raw, normalised, multiplier.
    #[serde(default)]
    parts: BTreeMap<String, [Value; 3]>,
}

#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
struct ExpectedError {
    /// The peer's exception.
    #[serde(rename = "type")]
    exception: String,
    /// Filter or weigher, or `request`.
    stage: String,
}

/// Something that came out differently.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What differs.
    pub what: String,
    /// What was expected.
    pub expected: Value,
    /// What came.
    pub got: Value,
}

/// Relative tolerance between weights: recorded ones are sums of doubles.
const TOLERANCE: f64 = 1e-12;

/// What came out differently than expected; nothing when the case passes.
#[must_use]
pub fn check(expected: &Expected, result: &Result) -> Vec<Difference> {
    let mut differences = Differences(Vec::new());
    match (result, &expected.error) {
        (Ok(Outcome::Selection(selection)), None) => differences.selection(expected, selection),
        (Ok(Outcome::HostState(state)), None) => differences.host_state(expected, state),
        (Ok(Outcome::Selection(selection)), Some(error)) => {
            differences.add("error", json!(error), json!({"filtered": selection.filtered}));
        }
        (Ok(Outcome::HostState(state)), Some(error)) => {
            differences.add("error", json!(error), json!(state));
        }
        (Err(Failure::Request(fault)), Some(error)) => {
            let got = ExpectedError {
                exception: fault.fault.kind.peer_exception().to_owned(),
                stage: fault.stage.clone(),
            };
            differences.compare("error", error, &got);
        }
        (Err(failure), error) => {
            differences.add("error", json!(error), json!(failure.to_string()));
        }
    }
    for (what, expected) in &expected.other {
        let got = json!("nothing here compares this");
        differences.add(what, expected.clone(), got);
    }
    differences.0
}

struct Differences(Vec<Difference>);

impl Differences {
    fn add(&mut self, what: impl Into<String>, expected: Value, got: Value) {
        self.0.push(Difference { what: what.into(), expected, got });
    }

    fn compare<T: PartialEq + Serialize>(
        &mut self,
        what: impl Into<String>,
        expected: &T,
        got: &T,
    ) {
        if expected != got {
            self.add(what, json!(expected), json!(got));
        }
    }

    fn number(&mut self, what: impl FnOnce() -> String, expected: &Value, got: f64) {
        if !number(expected).is_some_and(|expected| is_close(expected, got)) {
            self.add(what(), expected.clone(), json!(crate::score::Score(got)));
        }
    }

    fn selection(&mut self, expected: &Expected, selection: &Selection) {
        if let Some(filtered) = &expected.filtered {
            self.compare("filtered", filtered, &selection.filtered);
        }
        if let Some(eliminated) = &expected.eliminated_by {
            self.compare("eliminated_by", eliminated, &selection.eliminated_by);
        }
        if let Some(candidates) = &expected.candidates {
            self.compare("candidates", candidates, &selection.candidates);
        }
        if let Some(weighed) = &expected.weighed {
            self.weighed(weighed, &selection.explanation.weights.hosts);
        }
        if let Some(hint) = &expected.hint {
            let got = selection.explanation.hint.as_ref().map(|hint| hint.outcome.as_str());
            self.compare("hint", &Some(hint.as_str()), &got);
        }
        self.not_of_this_form("state", &expected.state);
        self.not_of_this_form("after_consume", &expected.after_consume);
    }

    fn host_state(&mut self, expected: &Expected, got: &HostState) {
        let parts = [
            ("state", &expected.state, &got.state),
            ("after_consume", &expected.after_consume, &got.after_consume),
        ];
        for (part, expected, got) in parts {
            for (name, expected) in expected.iter().flatten() {
                let value = got.get(name).unwrap_or(&Value::Null);
                if !got.contains_key(name) || !pyvalue::equal(expected, value) {
                    self.add(format!("{name} of {part}"), expected.clone(), value.clone());
                }
            }
        }
        self.not_of_this_form("filtered", &expected.filtered);
        self.not_of_this_form("eliminated_by", &expected.eliminated_by);
        self.not_of_this_form("candidates", &expected.candidates);
        self.not_of_this_form("hint", &expected.hint);
        let weighed = expected.weighed.as_ref().map(Vec::len);
        self.not_of_this_form("weighed", &weighed);
    }

    /// What is expected and never comes of such a scenario must not pass.
    fn not_of_this_form<T: Serialize>(&mut self, what: &str, expected: &Option<T>) {
        if let Some(expected) = expected {
            let got = json!("this does not come of a scenario of this form");
            self.add(what, json!(expected), got);
        }
    }

    fn weighed(&mut self, expected: &[ExpectedWeight], got: &[WeightRow]) {
        let order: Vec<&str> = expected.iter().map(|row| row.host.as_str()).collect();
        let names: Vec<String> = got.iter().map(name).collect();
        if order != names {
            self.add("order of weights", json!(order), json!(names));
        }
        for row in expected {
            let host = &row.host;
            // A host that is missing differs in the order already.
            let Some(got) = got.iter().find(|got| name(got) == *host) else {
                continue;
            };
            self.number(|| format!("weight of {host}"), &row.weight, got.weight.0);
            self.parts(row, got);
        }
    }

    fn parts(&mut self, expected: &ExpectedWeight, got: &WeightRow) {
        let host = &expected.host;
        let named = |parts: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            let mut names: Vec<String> = parts.map(str::to_owned).collect();
            names.sort();
            names
        };
        let weighers = named(&mut expected.parts.keys().map(String::as_str));
        if weighers.is_empty() {
            return;
        }
        let found = named(&mut got.parts.iter().map(|part| part.weigher));
        self.compare(format!("weighers of {host}"), &weighers, &found);
        for part in &got.parts {
            let Some([raw, normalised, multiplier]) = expected.parts.get(part.weigher) else {
                continue;
            };
            let what = |which: &str| format!("{which} of {host} by {}", part.weigher);
            self.number(|| what("raw value"), raw, part.raw.0);
            self.number(|| what("normalised value"), normalised, part.normalized.0);
            self.number(|| what("multiplier"), multiplier, part.multiplier.0);
        }
    }
}

fn name(row: &WeightRow) -> String {
    format!("{}/{}", row.host, row.node)
}

/// A number, or one of the texts that stand for those that are none.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => stowplan_model::pytext::float(text),
        other => other.as_f64(),
    }
}

fn is_close(expected: f64, got: f64) -> bool {
    expected == got
        || (expected.is_nan() && got.is_nan())
        || (expected.is_finite()
            && (expected - got).abs() <= TOLERANCE * expected.abs().max(got.abs()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::super::{evaluate, parse};
    use super::*;
    use stowplan_config::Settings;

    const CASE: &str = r#"{
        "id": "case", "filters": ["ComputeFilter"], "weighers": ["RAMWeigher"],
        "hosts": [
            {"host": "a", "node": "n", "free_ram_mb": 1},
            {"host": "b", "node": "n", "free_ram_mb": 2},
            {"host": "c", "node": "n", "service": {"disabled": true}}
        ],
        "expect": EXPECT
    }"#;

    fn differences(expect: &str) -> Vec<String> {
        let scenarios = parse(&CASE.replace("EXPECT", expect)).unwrap();
        let result = evaluate(&scenarios[0], &Settings::default(), &[]);
        let expected = scenarios[0].expect.as_ref().unwrap();
        let differences = check(expected, &result);
        differences.into_iter().map(|d| d.what).collect()
    }

    #[test]
    fn what_is_as_expected_passes() {
        let expect = r#"{
            "filtered": ["a/n", "b/n"], "eliminated_by": {"c/n": "ComputeFilter"},
            "weighed": [
                {"host": "b/n", "weight": 1.0, "parts": {"RAMWeigher": [2, 1, 1.0]}},
                {"host": "a/n", "weight": 0}
            ]}"#;
        assert!(differences(expect).is_empty());
    }

    #[test]
    fn every_difference_is_told() {
        let expect = r#"{
            "filtered": ["a/n"], "eliminated_by": {}, "candidates": {"a/n": [0]},
            "weighed": [
                {"host": "a/n", "weight": 0.5, "parts": {"CPUWeigher": [2, 1, 1.0]}},
                {"host": "b/n", "weight": "nan", "parts": {"RAMWeigher": [3, "inf", 2]}}
            ]}"#;
        assert_eq!(
            differences(expect),
            [
                "filtered",
                "eliminated_by",
                "candidates",
                "order of weights",
                "weight of a/n",
                "weighers of a/n",
                "weight of b/n",
                "raw value of b/n by RAMWeigher",
                "normalised value of b/n by RAMWeigher",
                "multiplier of b/n by RAMWeigher",
            ]
        );
    }

    #[test]
    fn what_is_not_compared_does_not_pass() {
        assert_eq!(differences(r#"{"selections": []}"#), ["selections"]);
    }

    #[test]
    fn a_state_is_compared_by_name() {
        let case = r#"{
            "id": "state", "compute_node": {"free_disk_gb": 2, "vcpus": 4, "vcpus_used": 1},
            "request": {"flavor": {"vcpus": 2}},
            "expect": {
                "state": {"free_disk_mb": 2048, "vcpus_used": 1, "colour": null},
                "after_consume": {"vcpus_used": 4, "num_io_ops": 1}, "filtered": []
            }
        }"#;
        let scenarios = parse(case).unwrap();
        let result = evaluate(&scenarios[0], &Settings::default(), &[]);
        let differences = check(scenarios[0].expect.as_ref().unwrap(), &result);
        let what: Vec<&str> = differences.iter().map(|d| d.what.as_str()).collect();
        assert_eq!(what, ["colour of state", "vcpus_used of after_consume", "filtered"]);
    }

    #[test]
    fn an_error_must_come_when_it_is_expected() {
        let expect = r#"{"error": {"type": "ValueError", "stage": "request"}}"#;
        assert_eq!(differences(expect), ["error"]);
    }
}

//! Compares what came of a scenario with what was expected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::evaluate::{Failure, Outcome, Result};
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
        (Ok(outcome), None) => differences.outcome(expected, outcome),
        (Ok(outcome), Some(error)) => {
            differences.add("error", json!(error), json!({"filtered": outcome.filtered}));
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
        let got = json!("this is not compared in a scenario of the select form");
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

    fn outcome(&mut self, expected: &Expected, outcome: &Outcome) {
        if let Some(filtered) = &expected.filtered {
            self.compare("filtered", filtered, &outcome.filtered);
        }
        if let Some(eliminated) = &expected.eliminated_by {
            self.compare("eliminated_by", eliminated, &outcome.eliminated_by);
        }
        if let Some(candidates) = &expected.candidates {
            self.compare("candidates", candidates, &outcome.candidates);
        }
        if let Some(weighed) = &expected.weighed {
            self.weighed(weighed, &outcome.explanation.weights.hosts);
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
    fn an_error_must_come_when_it_is_expected() {
        let expect = r#"{"error": {"type": "ValueError", "stage": "request"}}"#;
        assert_eq!(differences(expect), ["error"]);
    }
}

//! Compares what came of a scenario with what was expected.

use serde_json::{Map, Value, json};

use super::{Came, HintFailure};
use crate::scenario::Difference;

/// What came out differently than expected; nothing when the case passes.
#[must_use]
pub fn check_hint(
    expected: &Map<String, Value>,
    result: &Result<Came, HintFailure>,
) -> Vec<Difference> {
    let failed = match result {
        Ok(came) => return differences(expected, |key| came.get(key).cloned()),
        Err(failure) => failure,
    };
    // A scenario that cannot be read shows nothing, whatever it expects.
    if let HintFailure::Form(error) = failed {
        let got = json!(error.to_string());
        return vec![Difference { what: "error".to_owned(), expected: json!(expected), got }];
    }
    let message = failed.to_string();
    differences(expected, |key| match key {
        "error" => Some(json!(true)),
        "status" | "cycle_status" => Some(json!("Error")),
        "ok" => Some(json!(false)),
        "error_names" => {
            let named = expected.get(key).filter(|name| {
                name.as_str().is_some_and(|name| folded(&message).contains(&folded(name)))
            });
            Some(named.cloned().unwrap_or_else(|| json!(message)))
        }
        _ => Some(json!(message)),
    })
}

fn differences(
    expected: &Map<String, Value>,
    got: impl Fn(&str) -> Option<Value>,
) -> Vec<Difference> {
    let differs = |(key, expected): (&String, &Value)| {
        // An error that is not expected, and none where none came, are the same.
        let got = got(key).unwrap_or_else(|| match key.as_str() {
            "error" => json!(false),
            _ => json!("nothing here compares this"),
        });
        let same = if UNORDERED.contains(&key.as_str()) {
            sorted(expected) == sorted(&got)
        } else {
            *expected == got
        };
        (!same).then(|| Difference { what: key.clone(), expected: expected.clone(), got })
    };
    expected.iter().filter_map(differs).collect()
}

/// Lists that are sets.
const UNORDERED: [&str; 1] = ["required_nodes"];

fn sorted(value: &Value) -> Value {
    let Value::Array(list) = value else { return value.clone() };
    let mut texts: Vec<String> = list.iter().map(Value::to_string).collect();
    texts.sort();
    texts.dedup();
    json!(texts)
}

/// A name without regard to how its words are joined.
fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::super::HintScenario;
    use super::*;
    use stowplan_config::Settings;

    fn differences(case: Value) -> Vec<String> {
        let scenario: HintScenario = serde_json::from_value(case).unwrap();
        let result = scenario.evaluate(&Settings::default(), &[]);
        let differences = check_hint(scenario.expect.as_ref().unwrap(), &result);
        differences.into_iter().map(|difference| difference.what).collect()
    }

    #[test]
    fn an_error_must_come_when_it_is_expected_and_only_then() {
        let key = crate::hint::KEY;
        let parse = |text: &str, expect: Value| json!({"name": "case", "annotations": {key: text}, "expect": expect});
        assert!(differences(parse("{", json!({"error": true}))).is_empty());
        assert_eq!(differences(parse("{}", json!({"error": true}))), ["error"]);
        assert_eq!(differences(parse("{", json!({"hint": null}))), ["hint"]);
        assert_eq!(differences(parse("", json!({"hint": null, "colour": 1}))), ["colour"]);
    }

    #[test]
    fn what_cannot_be_read_does_not_pass_for_an_error_that_is_expected() {
        let case = json!({"name": "case", "node_names": 7, "expect": {"error": true}});
        assert_eq!(differences(case), ["error"]);
    }

    #[test]
    fn a_limit_of_nothing_is_refused_by_name() {
        for (name, differing) in [("maxHintNodes", 0), ("max_hint_nodes", 0), ("other", 1)] {
            let case = json!({"name": "case", "max_hint_nodes": 0,
                "expect": {"ok": false, "error_names": name}});
            assert_eq!(differences(case).len(), differing, "{name}");
        }
    }

    #[test]
    fn required_names_are_a_set() {
        let case = |expected: Value| json!({"name": "case", "node_names": ["b", "a"], "expect": {"required_nodes": expected}});
        assert!(differences(case(json!(["a", "b"]))).is_empty());
        assert_eq!(differences(case(json!(["a"]))), ["required_nodes"]);
    }
}

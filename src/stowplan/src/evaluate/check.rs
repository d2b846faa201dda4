//! Scenarios compared with what they expect.

use super::{Case, Form};
use crate::exit::Outcome;
use crate::out::{Format, outln};
use serde_json::{Value, json};
use stowplan_bus::scenario::check_wire;
use stowplan_engine::scenario::{Difference, check, check_destinations, hints::check_hint};
use stowplan_scheduler::{scenario::check_query, snapshot::check_replay};

/// Prints what differs and how many cases passed.
pub fn run(cases: &[Case], format: Format) -> Outcome {
    let differing: Vec<(&Case, Vec<Difference>)> = cases
        .iter()
        .map(|case| (case, differences(case)))
        .filter(|(_, differences)| !differences.is_empty())
        .collect();
    let failed = differing.len();
    let passed = cases.len() - failed;
    match format {
        Format::Table => {
            for (case, differences) in &differing {
                outln!("FAIL {}: {}", case.file.display(), case.id());
                for difference in differences {
                    outln!("  {}", difference.what);
                    outln!("    expected {}", difference.expected);
                    outln!("    got      {}", difference.got);
                }
            }
            outln!("{passed} passed, {failed} failed");
        }
        Format::Json => {
            let failures: Vec<Value> = differing
                .iter()
                .map(|(case, differences)| {
                    json!({
                        "file": case.file, "id": case.id(), "differences": differences,
                    })
                })
                .collect();
            outln!("{:#}", json!({"passed": passed, "failed": failed, "failures": failures}));
        }
    }
    if failed == 0 { Outcome::Fine } else { Outcome::CheckFailed }
}

/// What differs. A case that expects nothing cannot pass: a misspelt `expect`
/// would never be found out.
fn differences(case: &Case) -> Vec<Difference> {
    let compared = match &case.form {
        Form::Engine(scenario, result) => {
            scenario.expect.as_ref().map(|expected| check(expected, result))
        }
        Form::Select(scenario, result) => {
            scenario.expect.as_ref().map(|expected| check_destinations(expected, result))
        }
        Form::Query(scenario, result) => {
            scenario.expect.as_ref().map(|expected| check_query(expected, result))
        }
        Form::Hint(scenario, result) => {
            scenario.expect.as_ref().map(|expected| check_hint(expected, result))
        }
        Form::Batch(scenario, result) => scenario.differences(result.as_deref()),
        Form::Unit(case, result) => case.differences(result),
        Form::Wire(scenario, result) => Some(check_wire(&scenario.expect, result)),
        Form::Replay(replay, result) => {
            replay.expect.as_ref().map(|expected| check_replay(expected, result))
        }
    };
    compared.unwrap_or_else(|| {
        vec![Difference {
            what: "expect".to_owned(),
            expected: json!("what is expected to come of the scenario"),
            got: Value::Null,
        }]
    })
}

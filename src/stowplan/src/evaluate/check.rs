//! Scenarios compared with what they expect.

use super::{Case, Form};
use crate::exit::{Fault, Outcome};
use crate::out::{Format, outln};
use anyhow::anyhow;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use stowplan_batch::scenario::Deviations;
use stowplan_bus::scenario::check_wire;
use stowplan_engine::scenario::{Difference, check, check_destinations, hints::check_hint};
use stowplan_scheduler::{scenario::check_query, snapshot::check_replay};

/// What came of comparing a case.
enum Verdict {
    /// It ends as expected.
    Passed,
    /// It ends otherwise, and is known to, for this reason.
    Deviates(String),
    /// It ends otherwise.
    Failed(Vec<Difference>),
}

/// Prints what differs and how many cases passed.
pub fn run(cases: &[Case], format: Format) -> Result<Outcome, Fault> {
    let (mut passed, mut deviating, mut failing) = (0, Vec::new(), Vec::new());
    let mut lists = BTreeMap::new();
    for case in cases {
        match verdict(case, &mut lists)? {
            Verdict::Passed => passed += 1,
            Verdict::Deviates(reason) => deviating.push((case, reason)),
            Verdict::Failed(differences) => failing.push((case, differences)),
        }
    }
    match format {
        Format::Table => {
            for (case, differences) in &failing {
                outln!("FAIL {}: {}", case.file.display(), case.id());
                for difference in differences {
                    outln!("  {}", difference.what);
                    outln!("    expected {}", difference.expected);
                    outln!("    got      {}", difference.got);
                }
            }
            for (case, reason) in &deviating {
                outln!("DEVIATES {}: {}: {reason}", case.file.display(), case.id());
            }
            let known = match deviating.len() {
                0 => String::new(),
                count => format!("{count} deviate as listed, "),
            };
            outln!("{passed} passed, {known}{} failed", failing.len());
        }
        Format::Json => {
            let place = |case: &Case| json!({"file": case.file, "id": case.id()});
            let with = |case: &Case, key: &str, value: Value| {
                let mut item = place(case);
                item[key] = value;
                item
            };
            let failures: Vec<Value> =
                failing.iter().map(|(case, all)| with(case, "differences", json!(all))).collect();
            let known: Vec<Value> =
                deviating.iter().map(|(case, why)| with(case, "reason", json!(why))).collect();
            let summary = json!({
                "passed": passed, "failed": failing.len(), "failures": failures,
                "deviations": known,
            });
            outln!("{summary:#}");
        }
    }
    Ok(if failing.is_empty() { Outcome::Fine } else { Outcome::CheckFailed })
}

/// A case that is known to deviate must do so, else the list is not true.
fn verdict(case: &Case, lists: &mut BTreeMap<PathBuf, Deviations>) -> Result<Verdict, Fault> {
    let known = match lists.entry(case.file.clone()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let list = Deviations::beside(&case.file).map_err(|why| Fault::usage(anyhow!(why)))?;
            place.insert(list)
        }
    };
    let differences = differences(case);
    let reason = known.reason(&case.file, case.id()).map(str::to_owned);
    Ok(match (reason, differences.is_empty()) {
        (None, true) => Verdict::Passed,
        (Some(reason), false) => Verdict::Deviates(reason),
        (None, false) => Verdict::Failed(differences),
        (Some(reason), true) => Verdict::Failed(vec![Difference {
            what: "deviations.toml".to_owned(),
            expected: reason.into(),
            got: "the case ends as recorded: strike it from the list".into(),
        }]),
    })
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

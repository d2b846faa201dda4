//! Recorded cases of the peer and our own ones, as `stowplan evaluate --check`
//! puts them.

use serde_json::Value;
use std::path::PathBuf;
use stowplan_batch::scenario::units::UnitCase;
use stowplan_batch::scenario::{BatchScenario, Deviations};
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;

/// The cases of a folder of recorded ones.
fn cases(folder: &str) -> Vec<(PathBuf, Value)> {
    let folder = format!("{}/../../tests/golden/{folder}", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let read = |file: PathBuf| {
        let text = std::fs::read(&file).unwrap();
        let all: Vec<Value> = serde_json::from_slice(&text).unwrap();
        all.into_iter().map(move |case| (file.clone(), case))
    };
    files.flat_map(read).collect()
}

/// What differs in a case.
fn differences(case: &Value) -> Vec<String> {
    let settings = Settings::default();
    let found = match UnitCase::read(case) {
        Some(unit) => unit.differences(&unit.evaluate(&EngineConfig::from(&settings))),
        None => {
            let scenario: BatchScenario = serde_json::from_value(case.clone()).unwrap();
            let came = scenario.evaluate(&settings, &[]);
            scenario.differences(came.as_ref())
        }
    };
    let told = found.expect("every case expects something").into_iter();
    told.map(|d| format!("{}: expected {}, got {}", d.what, d.expected, d.got)).collect()
}

fn check(folder: &str) -> usize {
    let cases = cases(folder);
    let mut wrong = Vec::new();
    for (file, case) in &cases {
        let differences = differences(case);
        let known = Deviations::beside(file).unwrap();
        let name = case["name"].as_str().unwrap_or_default();
        let is_listed = known.reason(file, name).is_some();
        if differences.is_empty() == is_listed {
            wrong.push(format!("{}: {name}: {differences:#?}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    cases.len()
}

#[test]
fn recorded_cases_of_the_peer() {
    assert!(check("volcano") > 800);
}

#[test]
fn our_own_cases() {
    assert!(check("batch") > 20);
}

#[test]
fn an_expectation_that_nothing_compares_does_not_pass() {
    let mut case = cases("batch").swap_remove(0).1;
    case["expect"] = serde_json::json!({"bindings": {}});
    assert_eq!(differences(&case).len(), 1);
}

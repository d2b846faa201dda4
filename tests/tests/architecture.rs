//! The rooms of the house: who may use whom, read from the manifests.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::Value;
use std::{collections::BTreeMap, process::Command};
use stowplan_tests::workspace;

/// The crates, lowest floor first: each may use only those before it.
const FLOORS: &[&str] = &[
    "stowplan-model",
    "stowplan-config",
    "stowplan-cloud",
    "stowplan-engine",
    "stowplan-db",
    "stowplan-ledger",
    "stowplan-placement",
    "stowplan-scheduler",
    "stowplan-batch",
    "stowplan-bus",
    "stowplan-api",
    "stowplan",
];

/// Crates outside the house, which try it from there.
const TESTERS: &[&str] = &["stowplan-tests", "stowplan-load", "stowplan-fragmentation"];

/// Who alone may use a crate, where that is less than all above it.
const RESERVED: &[(&str, &[&str])] = &[
    ("stowplan-db", &["stowplan-ledger", "stowplan"]),
    ("stowplan-cloud", &["stowplan-api", "stowplan"]),
];

/// What a crate must never know, whoever brings it.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("stowplan-model", &["tokio", "sea-orm", "actix-web"]),
    ("stowplan-config", &["tokio", "sea-orm", "actix-web"]),
    ("stowplan-engine", &["tokio", "sea-orm", "actix-web"]),
    ("stowplan-placement", &["actix-web"]),
    ("stowplan-scheduler", &["actix-web"]),
    ("stowplan-batch", &["actix-web"]),
];

/// The dependencies of each package of the workspace, apart from those for its
/// tests.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(workspace())
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo's metadata");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let listed = package["dependencies"].as_array().expect("dependencies").iter();
            let used = listed.filter(|one| one["kind"].is_null()).map(|one| text(&one["name"]));
            (text(&package["name"]), used.collect())
        })
        .collect()
}

/// Every edge that the order of the floors does not allow.
fn wrong_edges(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let floor = |name: &str| FLOORS.iter().position(|have| *have == name);
    let mut wrong = Vec::new();
    for (name, used) in dependencies {
        let Some(own) = floor(name) else { continue };
        for other in used {
            let is_below = floor(other).is_none_or(|other| other < own);
            let is_allowed = RESERVED
                .iter()
                .all(|(kept, for_whom)| kept != other || for_whom.contains(&name.as_str()));
            let is_forbidden =
                FORBIDDEN.iter().any(|(who, what)| who == name && what.contains(&other.as_str()));
            if !is_below || !is_allowed || is_forbidden {
                wrong.push(format!("{name} -> {other}"));
            }
        }
    }
    wrong
}

#[test]
fn crates_use_only_what_lies_below_them() {
    let dependencies = dependencies();
    assert_eq!(wrong_edges(&dependencies), Vec::<String>::new());
    for floor in FLOORS {
        assert!(dependencies.contains_key(*floor), "{floor} is not in the workspace");
    }
    for name in dependencies.keys() {
        assert!(
            FLOORS.contains(&name.as_str()) || TESTERS.contains(&name.as_str()),
            "{name} has no floor: put it into the list"
        );
    }
}

#[test]
fn a_wrong_edge_is_found() {
    let edge = |from: &str, to: &str| {
        wrong_edges(&BTreeMap::from([(from.to_owned(), vec![to.to_owned()])]))
    };
    assert_eq!(edge("stowplan-engine", "stowplan-ledger"), ["stowplan-engine -> stowplan-ledger"]);
    assert_eq!(edge("stowplan-api", "stowplan-db"), ["stowplan-api -> stowplan-db"]);
    assert_eq!(edge("stowplan-engine", "tokio"), ["stowplan-engine -> tokio"]);
    assert!(edge("stowplan-ledger", "stowplan-db").is_empty());
}

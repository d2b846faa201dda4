//! Random rules, with what oslo.policy answers (`tests/golden/policy`).

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::{Check, Target, check::Rules};
use crate::auth::Token;
use serde::Deserialize;
use serde_json::Value;
use std::{collections::HashMap, fs, path::Path};

/// The attributes of targets.
const NAMES: [&str; 4] = ["project_id", "user_id", "role", "nothing"];

#[derive(Deserialize)]
struct Shared {
    rules: HashMap<String, String>,
}

#[derive(Deserialize)]
struct Case {
    rule: Value,
    caller: Caller,
    target: HashMap<String, Option<String>>,
    reads: bool,
    holds: bool,
}

#[derive(Deserialize)]
struct Caller {
    user_id: String,
    project_id: String,
    roles: Vec<String>,
}

fn list(value: &Value) -> Vec<String> {
    match value {
        Value::Array(words) => words.iter().map(|word| word.as_str().unwrap().to_owned()).collect(),
        word => vec![word.as_str().unwrap().to_owned()],
    }
}

#[test]
fn rules_are_read_and_hold_as_with_oslo_policy() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/policy/rules.json");
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let shared: Shared = serde_json::from_str(lines.next().unwrap()).unwrap();
    let by_name =
        shared.rules.iter().map(|(name, text)| (name.clone(), Check::parse(text).unwrap()));
    let rules = Rules { by_name: by_name.collect(), stand_in: "default".to_owned() };
    let mut count = 0;
    for line in lines {
        let case: Case = serde_json::from_str(line).unwrap();
        let check = match &case.rule {
            Value::String(text) => Check::parse(text),
            lists => {
                Check::parse_lists(&lists.as_array().unwrap().iter().map(list).collect::<Vec<_>>())
            }
        };
        assert_eq!(check.is_ok(), case.reads, "{line}");
        let Caller { user_id: user, project_id, roles } = case.caller;
        let token = Token { user, project: Some(project_id), roles, ..Token::default() };
        let target: Vec<_> = NAMES
            .iter()
            .filter_map(|name| Some((*name, case.target.get(*name)?.as_deref())))
            .collect();
        // What cannot be read never holds with the peer.
        let holds = check.is_ok_and(|check| check.holds(&token, Target(&target), &rules));
        assert_eq!(holds, case.holds, "{line}");
        count += 1;
    }
    assert!(count >= 500, "{count}");
}

//! Replays compared with what they expect.

use serde::Deserialize;
use serde_json::{Value, json};
use stowplan_engine::scenario::Difference;

use super::replay::{ReplayFailure, Replayed};
use crate::decisions::InstanceRecord;
use crate::select::Selection;

/// What a replay expects; what is absent is not compared.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedDecision {
    /// `placed`, `dry_run` or `no_valid_host`.
    pub(super) outcome: Option<String>,
    /// Host and node of each server, as `host/node`.
    pub(super) hosts: Option<Vec<String>>,
    /// Hosts with a candidate.
    pub(super) candidates: Option<usize>,
    /// How the first servers were placed, as a decision records it.
    pub(super) servers: Vec<Value>,
}

/// What came out differently than expected; nothing when the case passes.
#[must_use]
pub fn check_replay(
    expected: &ExpectedDecision,
    result: &Result<Replayed, ReplayFailure>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut compare = |what: String, expected: Value, got: Value| {
        if expected != got {
            differences.push(Difference { what, expected, got });
        }
    };
    let got = match result {
        Ok(got) => got,
        Err(failure) => {
            compare("error".to_owned(), Value::Null, json!(failure.to_string()));
            return differences;
        }
    };
    if let Some(outcome) = &expected.outcome {
        compare("outcome".to_owned(), json!(outcome), json!(got.outcome));
    }
    if let Some(hosts) = &expected.hosts {
        let name = |it: &Selection| format!("{}/{}", it.destination.host, it.destination.node);
        let names: Vec<String> = got.selections.iter().map(name).collect();
        compare("hosts".to_owned(), json!(hosts), json!(names));
    }
    if let Some(candidates) = expected.candidates {
        compare("candidates".to_owned(), json!(candidates), json!(got.candidates));
    }
    for (number, recorded) in expected.servers.iter().enumerate() {
        let server = got.servers.get(number).map(as_recorded).unwrap_or_default();
        for (what, part) in PARTS {
            let (recorded, mut server) = (part(recorded), part(&server));
            // A record may be cut.
            if let (Value::Array(recorded), Value::Array(server)) = (&recorded, &mut server) {
                server.truncate(recorded.len());
            }
            compare(format!("{what} of server {}", number + 1), recorded, server);
        }
    }
    differences
}

/// A server's record as it is read from a file, numbers and all.
fn as_recorded(server: &InstanceRecord) -> Value {
    let text = serde_json::to_string(server).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A part of a server's record, by name.
type Part = (&'static str, fn(&Value) -> Value);

/// What is compared of a server: all but reasons, which tell how long ago
/// something was.
const PARTS: [Part; 5] = [
    ("place", |server| json!([server["host"], server["node"]])),
    ("exhausted hosts", |server| server["exhausted"].clone()),
    ("filters", |server| {
        let explanation = &server["explanation"];
        let steps = explanation["filters"].as_array().into_iter().flatten();
        let steps = std::iter::once(&explanation["preselection"]).chain(steps);
        steps.map(|it| json!([it["filter"], it["outcome"], it["before"], it["after"]])).collect()
    }),
    ("draw", |server| server["explanation"]["draw"].clone()),
    ("weights", |server| server["explanation"]["weights"]["hosts"].clone()),
];

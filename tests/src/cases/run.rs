//! Runs cases, and says of each that fails where and how.

use super::{
    matching::{is_match, keep},
    parse::{self, Case, Step},
};
use crate::{Client, Reply, Server};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The manner of an API.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The client of a step that names a microversion, or none.
    pub at: fn(Client, Option<&str>) -> Client,
    /// Whether an error has the form of the API, and the words of the step.
    pub check_error: fn(&Step, &Reply) -> Result<(), String>,
}

/// Runs the cases in a file, each on a server of its own.
///
/// # Panics
/// When some fail.
pub fn run_file(path: &Path, manner: Manner) {
    let cases = parse::cases(&fs::read_to_string(path).expect("the cases"));
    assert!(!cases.is_empty(), "{}: no cases", path.display());
    let name = path.file_name().expect("a file").to_string_lossy();
    let faults: Vec<String> = cases
        .iter()
        .filter_map(|case| run(case, manner).err().map(|fault| format!("{name}:{fault}")))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Checks that a folder has cases of these names, and no others.
///
/// # Panics
/// When it has others.
pub fn check_files(folder: &Path, names: &[&str]) {
    let there: BTreeSet<String> = fs::read_dir(folder)
        .expect("the cases")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "case"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, names.iter().map(|name| (*name).to_owned()).collect());
}

fn run(case: &Case, manner: Manner) -> Result<(), String> {
    let server = Server::start();
    let mut kept = BTreeMap::new();
    for step in &case.steps {
        let step = &filled(step, &kept);
        let reply = send(&server.client(), step, manner);
        check(step, &reply, manner, &mut kept).map_err(|fault| {
            let Step { line, method, path, .. } = step;
            let (title, status, body) = (&case.title, reply.status, &reply.body);
            format!("{line}: {title}\n  {method} {path}\n  {fault}\n  got {status} {body}")
        })?;
    }
    Ok(())
}

/// The step with what earlier answers held in the place of `$name`.
fn filled(step: &Step, kept: &BTreeMap<String, String>) -> Step {
    let mut step = step.clone();
    // Longer names first: `$ab` is not `$a` with a letter.
    for (name, text) in kept.iter().rev() {
        for part in [&mut step.path, &mut step.body, &mut step.answer] {
            *part = part.replace(name, text);
        }
    }
    step
}

fn send(client: &Client, step: &Step, manner: Manner) -> Reply {
    let mut client = (manner.at)(client.clone(), step.version.as_deref());
    if !step.body.is_empty() {
        client = client.header("content-type", "application/json");
    }
    for (name, value) in &step.headers {
        client = client.header(name, value);
    }
    let body = (!step.body.is_empty()).then_some(step.body.trim());
    let reply = client.try_send_text(&step.method, &step.path, body);
    reply.unwrap_or_else(|error| panic!("line {}: no answer: {error}", step.line))
}

fn check(
    step: &Step,
    reply: &Reply,
    manner: Manner,
    kept: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    if reply.status != step.status {
        return Err(format!("wanted {}", step.status));
    }
    for (name, wanted) in &step.answer_headers {
        let found = reply.header(name);
        let is_fine = if wanted.is_empty() { found.is_empty() } else { found.contains(wanted) };
        if !is_fine {
            return Err(format!("{name}: wanted {wanted:?}, got {found:?}"));
        }
    }
    if step.status >= 400 {
        return (manner.check_error)(step, reply);
    }
    if step.answer.is_empty() {
        return Ok(());
    }
    let wanted: Value = serde_json::from_str(&step.answer)
        .map_err(|error| format!("the answer in the case is no JSON: {error}"))?;
    let found = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
    if !is_match(&wanted, &found) {
        return Err(format!("wanted {wanted}"));
    }
    keep(&wanted, &found, kept);
    Ok(())
}

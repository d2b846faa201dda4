//! Runs cases, and says of each that fails where and how.

use crate::{
    matching::is_match,
    parse::{self, Case, Step},
};
use serde_json::Value;
use std::{fs, path::Path};
use stowplan_tests::{Client, Reply, Server};

/// Runs the cases in a file, each on a server of its own.
///
/// # Panics
/// When some fail.
pub fn run_file(path: &Path) {
    let cases = parse::cases(&fs::read_to_string(path).expect("the cases"));
    assert!(!cases.is_empty(), "{}: no cases", path.display());
    let name = path.file_name().expect("a file").to_string_lossy();
    let faults: Vec<String> = cases
        .iter()
        .filter_map(|case| run(case).err().map(|fault| format!("{name}:{fault}")))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn run(case: &Case) -> Result<(), String> {
    let server = Server::start();
    for step in &case.steps {
        let reply = send(&server.client(), step);
        check(step, &reply).map_err(|fault| {
            let Step { line, method, path, .. } = step;
            let (title, status, body) = (&case.title, reply.status, &reply.body);
            format!("{line}: {title}\n  {method} {path}\n  {fault}\n  got {status} {body}")
        })?;
    }
    Ok(())
}

fn send(client: &Client, step: &Step) -> Reply {
    let mut client = client.clone();
    if let Some(version) = &step.version {
        client = client.at(version);
    }
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

fn check(step: &Step, reply: &Reply) -> Result<(), String> {
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
        return check_error(step, reply);
    }
    if step.answer.is_empty() {
        return Ok(());
    }
    let wanted: Value = serde_json::from_str(&step.answer)
        .map_err(|error| format!("the answer in the case is no JSON: {error}"))?;
    let found = serde_json::from_str(&reply.body).unwrap_or(Value::Null);
    if is_match(&wanted, &found) { Ok(()) } else { Err(format!("wanted {wanted}")) }
}

/// The form of every error; its code and words where the case gives them.
fn check_error(step: &Step, reply: &Reply) -> Result<(), String> {
    if step.answer_headers.iter().any(|(name, _)| name == "content-type") {
        return Ok(());
    }
    let document: Value = serde_json::from_str(&reply.body).map_err(|error| error.to_string())?;
    if reply.status == 401 {
        // Told by the layer before the service, in a form of its own.
        let is_told = document["title"] == "Unauthorized" && document["message"].is_string();
        return if is_told { Ok(()) } else { Err("wanted a title and a message".to_owned()) };
    }
    let error = &document["errors"][0];
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    if error["status"] != step.status || text("title").is_empty() || text("detail").is_empty() {
        return Err("an error has status, title and detail".to_owned());
    }
    let id = reply.header("x-openstack-request-id");
    if id.is_empty() || text("request_id") != id {
        return Err(format!("the request id is {id:?}"));
    }
    let (code, words) = step.answer.split_once(':').unwrap_or((&step.answer, ""));
    if !code.trim().is_empty() && text("code") != code.trim() {
        return Err(format!("wanted the code {code}"));
    }
    if !text("detail").contains(words.trim()) {
        return Err(format!("wanted the words {words:?}"));
    }
    Ok(())
}

//! Versions and errors of the compute API.

use serde_json::Value;
use stowplan_tests::{
    Client, Reply,
    cases::{Manner, Step},
};

/// The manner of the compute API.
pub const COMPUTE: Manner = Manner { at, check_error };

/// The key of an error, by its status.
const KEYS: [(u16, &str); 9] = [
    (400, "badRequest"),
    (401, "unauthorized"),
    (403, "forbidden"),
    (404, "itemNotFound"),
    (405, "badMethod"),
    (406, "computeFault"),
    (409, "conflictingRequest"),
    (415, "badMediaType"),
    (501, "notImplemented"),
];

/// A client at a microversion of the compute API, the newest unless one is
/// named.
pub fn at(client: Client, version: Option<&str>) -> Client {
    let version = version.unwrap_or("latest");
    client.header("openstack-api-version", &format!("compute {version}"))
}

/// The form of every error; its key and words where the case gives them.
fn check_error(step: &Step, reply: &Reply) -> Result<(), String> {
    // Our own surface, where a case asks it something, has a form of its own.
    if step.path.starts_with("/v1/") {
        return Ok(());
    }
    let document: Value = serde_json::from_str(&reply.body).map_err(|error| error.to_string())?;
    let key = KEYS.iter().find(|(status, _)| *status == step.status).map(|(_, key)| *key);
    let key = key.ok_or_else(|| format!("status {} has no key here", step.status))?;
    let fault = &document[key];
    let message = fault["message"].as_str().unwrap_or_default();
    let one = document.as_object().is_some_and(|object| object.len() == 1);
    if !one || fault["code"] != step.status || message.is_empty() {
        return Err(format!("an error is one {key} with code and message"));
    }
    if reply.header("x-openstack-request-id").is_empty() {
        return Err("no request id".to_owned());
    }
    let (wanted, words) = step.answer.split_once(':').unwrap_or((&step.answer, ""));
    if !wanted.trim().is_empty() && wanted.trim() != key {
        return Err(format!("wanted the key {wanted}"));
    }
    if !message.contains(words.trim()) {
        return Err(format!("wanted the words {words:?}"));
    }
    Ok(())
}

//! Versions and errors of the Placement API.

use serde_json::Value;
use stowplan_tests::{
    Client, Reply,
    cases::{Manner, Step},
};

/// The manner of the Placement API.
pub const PLACEMENT: Manner = Manner { at, check_error };

fn at(client: Client, version: Option<&str>) -> Client {
    match version {
        Some(version) => client.at(version),
        None => client,
    }
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

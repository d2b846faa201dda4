//! Replies and signs of life, as callers read them.

use serde_json::{Value, json};
use stowplan_model::Uuid;

use super::failure::Failure;

/// What a method gives.
pub type Outcome = Result<Value, Failure>;

/// The JSON text of the result and failure of a call: what is kept of an
/// answer, since each copy of a reply bears an id of its own.
#[must_use]
pub fn answer(outcome: &Outcome) -> String {
    match outcome {
        Ok(result) => format!("\"result\": {result}, \"failure\": null"),
        Err(failure) => format!("\"result\": null, \"failure\": {}", json!(failure.text())),
    }
}

/// The reply that ends a call. `answer` is one that [`answer`] made.
#[must_use]
pub fn last(answer: &str, msg_id: &str, unique_id: Uuid) -> String {
    whole(answer, true, msg_id, unique_id)
}

/// Word to a caller that its call is still worked on.
#[must_use]
pub fn sign_of_life(msg_id: &str, unique_id: Uuid) -> String {
    whole("\"result\": null, \"failure\": null", false, msg_id, unique_id)
}

fn whole(answer: &str, ending: bool, msg_id: &str, unique_id: Uuid) -> String {
    let (msg_id, unique_id) = (json!(msg_id), unique_id.simple());
    format!(
        "{{{answer}, \"ending\": {ending}, \"_msg_id\": {msg_id}, \"_unique_id\": \"{unique_id}\"}}"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn replies_are_those_of_the_peer() {
        let id = Uuid::from_u128(7);
        let ping: Outcome = Ok(json!({"service": "scheduler", "arg": "x"}));
        assert_eq!(
            read(&last(&answer(&ping), "m", id)),
            json!({"result": {"service": "scheduler", "arg": "x"}, "failure": null,
                "ending": true, "_msg_id": "m", "_unique_id": "00000000000000000000000000000007"})
        );
        assert_eq!(read(&sign_of_life("m", id))["ending"], false);
        let none: Outcome = Err(Failure::no_valid_host("", Vec::new()));
        let reply = read(&last(&answer(&none), "m", id));
        assert_eq!(
            read(reply["failure"].as_str().unwrap()),
            json!({"class": "NoValidHost", "module": "nova.exception",
                "message": "No valid host was found. ", "tb": [],
                "args": ["No valid host was found. "], "kwargs": {"reason": "", "code": 500}})
        );
    }
}

//! The envelope of oslo.messaging: JSON text inside a JSON object.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use thiserror::Error;

use super::message::Context;

/// The kind of every body, on the way in and out.
pub const CONTENT_TYPE: &str = "application/json";
/// The version of the envelope, the only one that is spoken.
const VERSION: &str = "2.0";
const VERSION_KEY: &str = "oslo.version";
const MESSAGE_KEY: &str = "oslo.message";
/// How the fields of a context begin.
const CONTEXT: &str = "_context_";

/// Why a message cannot be read: oslo.messaging rejects it, too.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Unreadable {
    /// Another kind of body.
    #[error("content type is {0}: expected application/json")]
    ContentType(String),
    /// No text.
    #[error("the body is not UTF-8")]
    Utf8,
    /// No JSON.
    #[error("{part} is no JSON: {problem}")]
    Json {
        /// The body, or the message inside.
        part: &'static str,
        /// What the parser says.
        problem: String,
    },
    /// JSON of another kind.
    #[error("{part} is {found}: expected {expected}")]
    Kind {
        /// What it is of.
        part: &'static str,
        /// What it is.
        found: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// An envelope that is not known.
    #[error("oslo.version is {0}: expected 2.0")]
    Version(String),
}

/// Opens a body. An object without the two keys of the envelope is the message
/// itself.
///
/// # Errors
/// What oslo.messaging rejects.
pub fn open(content_type: Option<&str>, body: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    if let Some(other) = content_type.filter(|kind| *kind != CONTENT_TYPE) {
        return Err(Unreadable::ContentType(other.to_owned()));
    }
    let text = std::str::from_utf8(body).map_err(|_| Unreadable::Utf8)?;
    let outer = object("the body", text)?;
    let (Some(version), Some(message)) = (outer.get(VERSION_KEY), outer.get(MESSAGE_KEY)) else {
        return Ok(outer);
    };
    if version.as_str() != Some(VERSION) {
        return Err(Unreadable::Version(version.to_string()));
    }
    match message {
        Value::String(text) => object(MESSAGE_KEY, text),
        other => {
            Err(Unreadable::Kind { part: MESSAGE_KEY, found: kind(other), expected: "a text" })
        }
    }
}

/// Closes the JSON text of a message in.
#[must_use]
pub fn seal(message: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(message.len() + message.len() / 8 + 64);
    body.extend_from_slice(b"{\"oslo.version\": \"2.0\", \"oslo.message\": ");
    // A text can always be written, and memory takes it.
    let _ = serde_json::to_writer(&mut body, message);
    body.push(b'}');
    body
}

fn object(part: &'static str, text: &str) -> Result<Map<String, Value>, Unreadable> {
    let problem = |error: serde_json::Error| Unreadable::Json { part, problem: error.to_string() };
    if !text.trim_start().starts_with('{') {
        let other: Value = serde_json::from_str(text).map_err(problem)?;
        return Err(Unreadable::Kind { part, found: kind(&other), expected: "an object" });
    }
    serde_json::from_str(text).map(|Kept(fields)| fields).map_err(problem)
}

/// The fields of a message, but of its context only the ids that are ever looked at:
/// tokens, names and the catalog are not even read.
struct Kept(Map<String, Value>);

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Kept;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kept, A::Error> {
                let mut fields = Map::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name.starts_with(CONTEXT) && !Context::FIELDS.contains(&name.as_str()) {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        fields.insert(name, map.next_value()?);
                    }
                }
                Ok(Kept(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// What a JSON value is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn what_is_sealed_opens() {
        let body = seal(r#"{"method": "ping", "args": {"arg": "ä \"x\""}}"#);
        let opened = open(Some(CONTENT_TYPE), &body).unwrap();
        assert_eq!(opened["args"]["arg"], "ä \"x\"");
        assert_eq!(open(None, &body).unwrap(), opened);
    }

    #[test]
    fn of_a_context_ids_alone_are_read() {
        let inner = r#"{"method": "ping", "_context_auth_token": "geheim",
            "_context_service_catalog": [{"a": 1}], "_context_request_id": "req-1"}"#;
        for body in [seal(inner), inner.as_bytes().to_vec()] {
            let opened = open(Some(CONTENT_TYPE), &body).unwrap();
            assert_eq!(opened.keys().collect::<Vec<_>>(), ["method", "_context_request_id"]);
        }
    }

    #[test]
    fn a_message_without_the_envelope_is_read() {
        for body in [r#"{"method": "ping"}"#, r#"{"oslo.version": "2.0", "method": "ping"}"#] {
            assert_eq!(open(Some(CONTENT_TYPE), body.as_bytes()).unwrap()["method"], "ping");
        }
    }

    #[test]
    fn what_oslo_rejects_is_unreadable() {
        let bodies: [&[u8]; 9] = [
            b"{nope",
            b"[1, 2]",
            b"5",
            b"",
            b"\xff\xfe{}",
            br#"{"oslo.version": "3.0", "oslo.message": "{}"}"#,
            br#"{"oslo.version": "2.1", "oslo.message": "{}"}"#,
            br#"{"oslo.version": "2.0", "oslo.message": {}}"#,
            br#"{"oslo.version": "2.0", "oslo.message": "{nope"}"#,
        ];
        for body in bodies {
            assert!(open(Some(CONTENT_TYPE), body).is_err(), "{body:?}");
        }
        let good = seal("{}");
        assert!(open(Some(CONTENT_TYPE), &good).is_ok());
        assert_eq!(
            open(Some("text/plain"), &good).unwrap_err().to_string(),
            "content type is text/plain: expected application/json"
        );
    }
}

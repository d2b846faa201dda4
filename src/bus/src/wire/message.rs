//! A call or cast, taken out of its envelope.

use serde_json::{Map, Value};
use stowplan_model::Micros;

use super::times;

/// The version of a message that names none.
const DEFAULT_VERSION: &str = "1.0";

/// The longest id that is kept.
const MAX_ID: usize = 255;
/// The longest id of a request that is kept.
const MAX_REQUEST: usize = 64;

/// A call or cast.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// The method; null where none is named.
    pub method: Value,
    /// Its arguments by name.
    pub args: Map<String, Value>,
    /// Version of the interface.
    pub version: String,
    /// Namespace of the interface.
    pub namespace: Option<String>,
    /// Who waits for an answer; none for a cast.
    pub caller: Option<Caller>,
    /// The message's id, by which a second copy is known.
    pub unique_id: Option<String>,
    /// On whose behalf it is sent.
    pub context: Context,
}

/// Who waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// The call's id.
    pub msg_id: String,
    /// The queue that the answer goes to.
    pub reply_queue: String,
    /// Seconds without a sign of life after which the caller gives up; none: it
    /// wants none.
    pub patience: Option<u64>,
}

/// What is kept of a request's context: ids alone. Tokens, names and the
/// catalog are never looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The request, under which journal and decisions know the call.
    pub request_id: String,
    /// The project.
    pub project_id: String,
    /// The user.
    pub user_id: String,
    /// When the request came into the cloud.
    pub time: Option<Micros>,
}

impl Message {
    /// Whether its ids are such that an answer can be kept and sent.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        let fits = |text: &str| text.len() <= MAX_ID;
        self.unique_id.as_deref().is_none_or(fits)
            && self.caller.as_ref().is_none_or(|it| fits(&it.msg_id) && fits(&it.reply_queue))
    }

    /// Reads what an envelope holds. Nothing of it is required: what is missing
    /// is found out when the method is looked for.
    #[must_use]
    pub fn read(mut fields: Map<String, Value>) -> Self {
        let context = Context::read(&fields);
        let text = |fields: &Map<String, Value>, name: &str| {
            fields.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        let caller = text(&fields, "_msg_id").map(|msg_id| Caller {
            msg_id,
            reply_queue: text(&fields, "_reply_q").unwrap_or_default(),
            patience: fields.get("_timeout").and_then(seconds),
        });
        let args = match fields.remove("args") {
            Some(Value::Object(args)) => args,
            _ => Map::new(),
        };
        Self {
            method: fields.remove("method").unwrap_or_default(),
            args,
            version: text(&fields, "version").unwrap_or_else(|| DEFAULT_VERSION.to_owned()),
            namespace: text(&fields, "namespace"),
            caller,
            unique_id: text(&fields, "_unique_id"),
            context,
        }
    }
}

/// Whole seconds of a number that may have a fraction.
fn seconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| (0.0..1e9).contains(number))?;
        Some(number as u64)
    })
}

impl Context {
    /// The fields that are read.
    pub const FIELDS: [&str; 4] =
        ["_context_request_id", "_context_project_id", "_context_user_id", "_context_timestamp"];

    /// Takes the ids out of a message's `_context_` fields.
    #[must_use]
    pub fn read(fields: &Map<String, Value>) -> Self {
        let text = |name: &str| {
            fields.get(name).and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
        };
        let short = |name: &str, most: usize| -> String { text(name).chars().take(most).collect() };
        Self {
            request_id: short("_context_request_id", MAX_REQUEST),
            project_id: short("_context_project_id", MAX_ID),
            user_id: short("_context_user_id", MAX_ID),
            time: times::read(&text("_context_timestamp")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_with_its_context() {
        let Value::Object(fields) = json!({
            "method": "ping", "args": {"arg": 1}, "version": "4.5", "_msg_id": "a",
            "_reply_q": "reply_b", "_timeout": 60, "_unique_id": "c",
            "_context_request_id": "req-1", "_context_project_id": "p", "_context_user_id": "u",
            "_context_timestamp": "2026-11-30T00:31:18.930608", "_context_auth_token": "geheim",
        }) else {
            panic!()
        };
        let message = Message::read(fields);
        let caller = message.caller.clone().unwrap();
        assert_eq!((caller.reply_queue.as_str(), caller.patience), ("reply_b", Some(60)));
        assert_eq!(message.context.time, Some(Micros(1_795_998_678_930_608)));
        assert!(!format!("{message:?}").contains("geheim"));
    }

    #[test]
    fn ids_have_bounds() {
        let mut long = Map::new();
        long.insert("_msg_id".to_owned(), "x".repeat(256).into());
        long.insert("_context_request_id".to_owned(), "r".repeat(1000).into());
        let message = Message::read(long);
        assert!(!message.is_kept());
        assert_eq!(message.context.request_id.len(), 64);
    }

    #[test]
    fn nothing_is_required() {
        let message = Message::read(Map::new());
        assert_eq!((message.version.as_str(), message.caller), ("1.0", None));
    }
}

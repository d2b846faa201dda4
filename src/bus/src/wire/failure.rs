//! Failures, as oslo.messaging carries exceptions.

use std::ops::Deref;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::python;

/// Modules of exceptions.
const DISPATCHER: &str = "oslo_messaging.rpc.dispatcher";
const BUILTINS: &str = "builtins";
const NOVA: &str = "nova.exception";

/// An exception that a caller gets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Failure(Box<Exception>);

impl Deref for Failure {
    type Target = Exception;

    fn deref(&self) -> &Exception {
        &self.0
    }
}

/// What an exception is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exception {
    /// The exception's class.
    pub class: String,
    /// The module that it is in. Callers rebuild those of `nova.exception` and
    /// `builtins`; others they get as a `RemoteError`.
    pub module: String,
    /// Its text.
    pub message: String,
    /// Lines that the caller's log shows behind the text.
    pub tb: Vec<String>,
    /// What the exception is made of.
    pub args: Vec<Value>,
    /// The same by name.
    pub kwargs: Map<String, Value>,
}

impl Failure {
    fn new(module: &str, class: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Exception {
            class: class.to_owned(),
            module: module.to_owned(),
            tb: Vec::new(),
            args: vec![Value::from(message.as_str())],
            message,
            kwargs: Map::new(),
        }))
    }

    /// An exception of Python itself.
    #[must_use]
    pub fn builtin(class: &str, message: impl Into<String>) -> Self {
        Self::new(BUILTINS, class, message)
    }

    /// A value that cannot be.
    #[must_use]
    pub fn value(message: impl Into<String>) -> Self {
        Self::builtin("ValueError", message)
    }

    /// Arguments that a method does not take.
    #[must_use]
    pub fn arguments(message: impl Into<String>) -> Self {
        Self::builtin("TypeError", message)
    }

    /// A method that there is not.
    #[must_use]
    pub fn no_such_method(method: &str) -> Self {
        let message = format!("Endpoint does not support RPC method {method}");
        Self::new(DISPATCHER, "NoSuchMethod", message)
    }

    /// A version or namespace that there is not.
    #[must_use]
    pub fn unsupported_version(version: &str, method: &str) -> Self {
        let message =
            format!("Endpoint does not support RPC version {version}. Attempted method: {method}");
        Self::new(DISPATCHER, "UnsupportedVersion", message)
    }

    /// An exception of Nova's; `code` is that of its class.
    #[must_use]
    pub fn nova(class: &str, message: impl Into<String>, code: u16) -> Self {
        let mut failure = Self::new(NOVA, class, message);
        failure.0.kwargs.insert("code".to_owned(), json!(code));
        failure
    }

    /// That there is no valid host, in Nova's words; `told` is for the log of
    /// the caller.
    #[must_use]
    pub fn no_valid_host(reason: &str, told: Vec<String>) -> Self {
        let mut failure =
            Self::new(NOVA, "NoValidHost", format!("No valid host was found. {reason}"));
        failure.0.kwargs.insert("reason".to_owned(), json!(reason));
        failure.0.kwargs.insert("code".to_owned(), json!(500));
        failure.0.tb = told;
        failure
    }

    /// An object of a version that is not understood.
    #[must_use]
    pub fn object_version(name: &str, version: &str) -> Self {
        let message = format!("Version {version} of {name} is not supported");
        Self::new("oslo_versionedobjects.exception", "IncompatibleObjectVersion", message)
    }

    /// The caller's patience has run out before the call was taken.
    #[must_use]
    pub fn too_late(waited: u64) -> Self {
        Self::new(
            "oslo_messaging.exceptions",
            "MessagingTimeout",
            format!("the call may be {waited} s old and its caller gone: nothing was claimed"),
        )
    }

    /// The text that a reply holds.
    #[must_use]
    pub fn text(&self) -> String {
        python::text(self)
    }
}

//! Errors of the direct connection in the form of all others, so that one place
//! says what an error means ([`crate::Trouble`]).

use rusqlite::Error;
use sea_orm::sqlx::error::{DatabaseError, ErrorKind};
use sea_orm::{DbErr, RuntimeErr, sqlx};
use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

/// What SQLite said.
#[derive(Debug)]
struct Fault {
    /// The extended result code.
    code: i32,
    message: String,
}

/// The error as the pools' connections would give it.
pub(super) fn error(error: Error) -> DbErr {
    let error = match error {
        Error::SqliteFailure(cause, message) => {
            let message = message.unwrap_or_else(|| cause.to_string());
            sqlx::Error::Database(Box::new(Fault { code: cause.extended_code, message }))
        }
        other => return DbErr::Custom(other.to_string()),
    };
    DbErr::Exec(RuntimeErr::SqlxError(error.into()))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) {}", self.code, self.message)
    }
}

impl StdError for Fault {}

impl DatabaseError for Fault {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.to_string().into())
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

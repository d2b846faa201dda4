//! Types of options: how each reads what a file or a scenario says, and how it
//! writes itself back.

mod cell_database;
mod database_url;
mod duration;
mod list;
mod number;
mod scalar;
mod secret;
mod secret_url;
mod sqlalchemy;
mod transport_url;

use std::fmt;

pub use cell_database::CellDatabase;
pub use database_url::{Backend, DatabaseUrl};
pub use list::ResourceMapping;
pub use number::python_float;
pub use secret::Secret;
pub use secret_url::SecretUrl;
pub use transport_url::{Broker, TransportUrl};

use crate::spec::Meta;

/// What kind of value an option takes; names it in the sample and in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// true or false.
    Boolean,
    /// Whole number.
    Integer,
    /// Number with a fraction.
    Float,
    /// Any text.
    String,
    /// Path of a file or folder.
    Path,
    /// Items between commas.
    List,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// Time span with a unit.
    Duration,
    /// Address such as scheme://user:password@host/.
    Url,
    /// SQLAlchemy-style address of a database.
    DatabaseUrl,
    /// `cell=address` items, between commas or one a line.
    CellDatabases,
    /// Plugins of one tier between commas; the option is given once per tier.
    Tiers,
    /// `dimension:CLASS:quantum` items between commas.
    ResourceMap,
}

impl Kind {
    /// Name in the sample file.
    pub fn label(self) -> &'static str {
        match self {
            Self::Boolean => "boolean value",
            Self::Integer => "integer value",
            Self::Float => "floating point value",
            Self::String | Self::Choice(_) => "string value",
            Self::Path => "file path",
            Self::List => "list value",
            Self::Duration => "time span",
            Self::Url => "URL",
            Self::DatabaseUrl => "database URL",
            Self::CellDatabases => "list of cell=database URL, may be repeated",
            Self::Tiers => "list value, repeated once per tier",
            Self::ResourceMap => "list of dimension:CLASS:quantum",
        }
    }

    /// What a value of this kind looks like, for an error.
    fn description(self) -> String {
        match self {
            Self::Boolean => "a boolean (true, yes, on, 1 or false, no, off, 0)".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::Float => "a number".to_owned(),
            Self::String => "a text".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::List => "a list of items between commas".to_owned(),
            Self::Choice(words) => one_of(words),
            Self::Duration => {
                "a time span such as 250ms, 30s, 15m, 12h or 7d (seconds without a unit)".to_owned()
            }
            Self::Url => "a URL such as scheme://user:password@host/".to_owned(),
            Self::DatabaseUrl => "a database URL such as sqlite:////var/lib/stowplan/stowplan.db, \
                mysql+pymysql://user:password@host/name or \
                postgresql+psycopg2://user:password@host/name"
                .to_owned(),
            Self::CellDatabases => {
                "database URLs such as cell1=mysql+pymysql://user:password@host/nova_cell1"
                    .to_owned()
            }
            Self::Tiers => "plugin names between commas, one line per tier".to_owned(),
            Self::ResourceMap => {
                "items such as cpu:VCPU:1000m (dimension, resource class, quantum)".to_owned()
            }
        }
    }
}

/// `one of a, b, c` for errors.
fn one_of(words: &[&str]) -> String {
    match words {
        [word] => format!("\"{word}\""),
        _ => format!("one of {}", words.join(", ")),
    }
}

/// What was written for an option.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The texts of a file, in order: the last one counts, except for options
    /// that are given once per item.
    Texts(&'a [String]),
    /// Ready-made items of a list, which are not split again.
    Items(&'a [String]),
}

impl<'a> Input<'a> {
    /// The one text of an option that holds one value.
    pub(crate) fn scalar(self, kind: Kind, meta: &Meta) -> Result<&'a str, Problem> {
        match self {
            Self::Texts(texts) => Ok(texts.last().map_or("", String::as_str)),
            Self::Items(_) => Err(Problem::expected(kind, meta)),
        }
    }
}

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What was expected instead, fit to follow "expected".
    pub expected: String,
}

impl Problem {
    /// A value of this kind and range was expected.
    pub(crate) fn expected(kind: Kind, meta: &Meta) -> Self {
        let mut expected =
            if meta.words.is_empty() { kind.description() } else { one_of(meta.words) };
        match (meta.minimum, meta.maximum) {
            (Some(low), Some(high)) => expected.push_str(&format!(" from {low} to {high}")),
            (Some(low), None) => expected.push_str(&format!(" of at least {low}")),
            (None, Some(high)) => expected.push_str(&format!(" of at most {high}")),
            (None, None) => {}
        }
        Self { expected }
    }

    /// Something more particular was expected.
    pub(crate) fn new(expected: impl Into<String>) -> Self {
        Self { expected: expected.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

/// A type that an option can have.
pub(crate) trait OptionType: Sized {
    /// What kind of value it is.
    const KIND: Kind;

    /// Reads what was written. What is understood but not taken literally is
    /// told in `notes`.
    fn read(input: Input<'_>, meta: &Meta, notes: &mut Vec<String>) -> Result<Self, Problem>;

    /// The value as a file would say it; no text when it is unset.
    fn texts(&self, meta: &Meta) -> Vec<String>;
}

//! SQLAlchemy-style addresses of databases, rewritten for the driver in use.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Input, Kind, OptionType, Problem};
use crate::spec::Meta;

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// SQLite, in this process.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MariaDB or MySQL.
    Mysql,
}

/// Where a database is. Neither `Debug` nor `Display` shows its password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    /// Which database it is.
    pub backend: Backend,
    /// Address as the driver reads it, password included.
    pub sqlx_url: String,
    /// SQLite: the file; none for a database in memory.
    pub path: Option<PathBuf>,
    /// Address as written, without its password.
    redacted: String,
}

impl DatabaseUrl {
    /// The SQLite database in this file, made if it is missing.
    pub fn embedded(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self {
            backend: Backend::Sqlite,
            sqlx_url: format!("sqlite://{}?mode=rwc", escape(&path.to_string_lossy(), "/")),
            path: Some(path.to_owned()),
            redacted: format!("sqlite:///{}", path.display()),
        }
    }

    /// The address without its password.
    pub fn redacted(&self) -> &str {
        &self.redacted
    }
}

/// Percent-encodes all but letters, digits, `-._~` and the characters of `keep`.
fn escape(text: &str, keep: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || keep.contains(c) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({})", self.redacted)
    }
}

impl OptionType for DatabaseUrl {
    const KIND: Kind = Kind::DatabaseUrl;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let text = input.scalar(Self::KIND, meta)?.trim();
        let path = text
            .strip_prefix("sqlite:///")
            .filter(|path| !path.is_empty())
            .ok_or_else(|| Problem::expected(Self::KIND, meta))?;
        Ok(Self::embedded(path))
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.redacted.clone()]
    }
}

//! Where a database is, as the driver wants to hear it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::sqlalchemy::{Parts, rewritten};
use super::{Input, Kind, OptionType, Problem};
use crate::redact::url_passwords;
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
    /// Address as the driver reads it, password included: never to be shown.
    pub sqlx_url: String,
    /// SQLite: the file; none for a database in memory.
    pub path: Option<PathBuf>,
    /// As it was written, password included.
    written: String,
    redacted: String,
}

impl DatabaseUrl {
    /// The SQLite database in this file, made if it is missing.
    pub fn embedded(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let written = format!("sqlite:///{}", path.display());
        Self {
            backend: Backend::Sqlite,
            sqlx_url: format!("sqlite://{}?mode=rwc", escape(&path.to_string_lossy(), "/")),
            path: Some(path.to_owned()),
            redacted: written.clone(),
            written,
        }
    }

    /// A SQLite database in memory, gone with the process.
    pub fn in_memory() -> Self {
        Self {
            backend: Backend::Sqlite,
            sqlx_url: "sqlite::memory:".to_owned(),
            path: None,
            written: "sqlite://".to_owned(),
            redacted: "sqlite://".to_owned(),
        }
    }

    /// The address as written, without its password.
    pub fn redacted(&self) -> &str {
        &self.redacted
    }

    /// The address as written, password included: never to be shown.
    pub fn reveal(&self) -> &str {
        &self.written
    }

    /// The same address with more parameters, `name=value&name=value`, as
    /// oslo.db adds them. Those that are left out are told in `notes`.
    ///
    /// # Errors
    /// When a parameter's value does not do.
    pub(crate) fn with_parameters(
        &self,
        parameters: &str,
        notes: &mut Vec<String>,
    ) -> Result<Self, Problem> {
        let joint = if self.written.contains('?') { '&' } else { '?' };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        Self::parse(&self.written, &mut before)?;
        let url = Self::parse(&format!("{}{joint}{parameters}", self.written), &mut after)?;
        notes.extend(after.into_iter().skip(before.len()));
        Ok(url)
    }

    /// Reads an address; parameters that are left out are told in `notes`.
    pub(super) fn parse(text: &str, notes: &mut Vec<String>) -> Result<Self, Problem> {
        let parts =
            Parts::split(text).ok_or_else(|| Problem::expected(Self::KIND, &Meta::new()))?;
        let backend = match parts.dialect {
            "sqlite" => return Self::sqlite(&parts, notes),
            "postgresql" | "postgres" => Backend::Postgres,
            "mysql" | "mariadb" => Backend::Mysql,
            _ => return Err(Problem::expected(Self::KIND, &Meta::new())),
        };
        Ok(Self {
            backend,
            sqlx_url: server_url(backend, &parts, notes)?,
            path: None,
            written: text.to_owned(),
            redacted: url_passwords(text),
        })
    }

    fn sqlite(parts: &Parts<'_>, notes: &mut Vec<String>) -> Result<Self, Problem> {
        if !parts.authority_is_empty() {
            return Err(Problem::new(
                "three slashes before a relative path of a SQLite database, four before an \
                 absolute one",
            ));
        }
        if parts.database.starts_with("file:") {
            return Err(Problem::new("the path of a SQLite database, not a file: address"));
        }
        for (name, _) in &parts.query {
            notes.push(dropped(name));
        }
        Ok(match parts.database {
            "" | ":memory:" => Self::in_memory(),
            path => Self::embedded(path),
        })
    }
}

/// The address of a server for the driver.
fn server_url(
    backend: Backend,
    parts: &Parts<'_>,
    notes: &mut Vec<String>,
) -> Result<String, Problem> {
    let scheme = if backend == Backend::Postgres { "postgres" } else { "mysql" };
    let mut url = format!("{scheme}://");
    if let Some(user) = &parts.user {
        url.push_str(&escape(user, ""));
        if let Some(password) = &parts.password {
            url.push(':');
            url.push_str(&escape(password, ""));
        }
        url.push('@');
    }
    url.push_str(if parts.host.is_empty() { "localhost" } else { parts.host });
    if let Some(port) = parts.port {
        let port: u16 = port.parse().map_err(|_| {
            Problem::new(format!("a port from 0 to 65535 after the host, not {port}"))
        })?;
        url.push_str(&format!(":{port}"));
    }
    if parts.database.is_empty() {
        return Err(Problem::new("the name of the database after the host"));
    }
    url.push('/');
    url.push_str(&escape(parts.database, ""));
    let (query, left_out) = rewritten(backend, &parts.query);
    notes.extend(left_out.iter().map(|name| dropped(name)));
    for (at, (name, value)) in query.iter().enumerate() {
        url.push(if at == 0 { '?' } else { '&' });
        url.push_str(&format!("{name}={}", escape(value, "")));
    }
    Ok(url)
}

fn dropped(parameter: &str) -> String {
    format!("parameter {parameter} of the database URL has no effect")
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

impl FromStr for DatabaseUrl {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        Self::parse(text, &mut Vec::new())
    }
}

impl OptionType for DatabaseUrl {
    const KIND: Kind = Kind::DatabaseUrl;

    fn read(input: Input<'_>, meta: &Meta, notes: &mut Vec<String>) -> Result<Self, Problem> {
        Self::parse(input.scalar(Self::KIND, meta)?.trim(), notes)
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.redacted.clone()]
    }
}

//! The grammar of SQLAlchemy's database addresses:
//! `dialect+driver://user:password@host:port/database?parameters`, and what
//! parameters of its drivers are called here.

use super::Backend;

/// An address in its parts; user, password and parameters are decoded.
pub(super) struct Parts<'a> {
    pub dialect: &'a str,
    pub user: Option<String>,
    pub password: Option<String>,
    /// Brackets of an IPv6 address included.
    pub host: &'a str,
    pub port: Option<&'a str>,
    pub database: &'a str,
    pub query: Vec<(String, String)>,
}

impl<'a> Parts<'a> {
    /// Splits an address. A password may hold anything but `@`.
    pub fn split(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let dialect = scheme.split_once('+').map_or(scheme, |(dialect, _)| dialect);
        let (userinfo, rest) = split_user(rest);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (server, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = split_port(server)?;
        let (user, password) = match userinfo.map(|info| info.split_once(':').ok_or(info)) {
            None => (None, None),
            Some(Err(user)) => (Some(decode(user, false)), None),
            Some(Ok((user, password))) => {
                (Some(decode(user, false)), Some(decode(password, false)))
            }
        };
        let query = query
            .split('&')
            .filter(|parameter| !parameter.is_empty())
            .map(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
                (decode(name, true), decode(value, true))
            })
            .collect();
        Some(Self { dialect, user, password, host, port, database, query })
    }

    /// Has it neither user nor host, as files have not?
    pub fn authority_is_empty(&self) -> bool {
        self.user.is_none() && self.host.is_empty() && self.port.is_none()
    }
}

/// `user:password@` before the rest: the name ends at the first `:` or `/`, the
/// password at the first `@` after it.
fn split_user(text: &str) -> (Option<&str>, &str) {
    let Some((user, rest)) = text.split_once('@') else {
        return (None, text);
    };
    let name = user.split_once(':').map_or(user, |(name, _)| name);
    if name.contains(['/', '?']) { (None, text) } else { (Some(user), rest) }
}

/// Host and port; an IPv6 address stands in brackets.
fn split_port(server: &str) -> Option<(&str, Option<&str>)> {
    if server.starts_with('[') {
        let end = server.find(']')? + 1;
        let (host, rest) = (server.get(..end)?, server.get(end..)?);
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    Some(match server.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (server, None),
    })
}

/// Decodes `%XX`, and `+` as a blank in parameters; a lone `%` stands for itself.
fn decode(text: &str, plus_is_blank: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let pair =
            after.get(..2).filter(|pair| *byte == b'%' && pair.iter().all(u8::is_ascii_hexdigit));
        let code = pair
            .and_then(|pair| std::str::from_utf8(pair).ok())
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(if plus_is_blank && *byte == b'+' { b' ' } else { *byte });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What becomes of a parameter.
#[derive(Clone, Copy)]
enum Rule {
    /// Given to the driver under this name.
    Named(&'static str),
    /// True: TLS in this mode.
    Tls(&'static str),
    /// Already so, or of no matter here.
    Needless,
}

use Rule::{Named, Needless, Tls};

/// Parameters of PyMySQL, mysqlclient and our driver.
const MYSQL: &[(&str, Rule)] = &[
    ("unix_socket", Named("socket")),
    ("socket", Named("socket")),
    ("ssl_ca", Named("ssl-ca")),
    ("ssl-ca", Named("ssl-ca")),
    ("ssl_cert", Named("ssl-cert")),
    ("ssl-cert", Named("ssl-cert")),
    ("ssl_key", Named("ssl-key")),
    ("ssl-key", Named("ssl-key")),
    ("ssl_mode", Named("ssl-mode")),
    ("ssl-mode", Named("ssl-mode")),
    ("ssl_verify_identity", Tls("VERIFY_IDENTITY")),
    ("ssl_check_hostname", Tls("VERIFY_IDENTITY")),
    ("ssl_verify_cert", Tls("VERIFY_CA")),
    ("ssl", Tls("REQUIRED")),
    ("ssl_disabled", Tls("DISABLED")),
    ("statement-cache-capacity", Named("statement-cache-capacity")),
    ("charset", Needless),
    ("use_unicode", Needless),
    ("binary_prefix", Needless),
];

/// Parameters of psycopg, asyncpg and our driver.
const POSTGRES: &[(&str, Rule)] = &[
    ("sslmode", Named("sslmode")),
    ("ssl", Named("sslmode")),
    ("sslrootcert", Named("sslrootcert")),
    ("sslcert", Named("sslcert")),
    ("sslkey", Named("sslkey")),
    ("application_name", Named("application_name")),
    ("options", Named("options")),
    ("host", Named("host")),
    ("port", Named("port")),
    ("statement-cache-capacity", Named("statement-cache-capacity")),
    ("client_encoding", Needless),
];

/// The parameters under the driver's names, and the names of those left out.
pub(super) fn rewritten(
    backend: Backend,
    query: &[(String, String)],
) -> (Vec<(&'static str, String)>, Vec<String>) {
    let rules = if backend == Backend::Postgres { POSTGRES } else { MYSQL };
    let mut kept: Vec<(&'static str, String)> = Vec::new();
    let mut left_out = Vec::new();
    let mut mode = None;
    for (name, value) in query {
        match rules.iter().find(|(known, _)| known == name).map(|(_, rule)| *rule) {
            Some(Named(name)) => kept.push((name, value.clone())),
            Some(Tls(asked)) => {
                let is_on = ["1", "true", "yes", "on"].contains(&value.to_lowercase().as_str());
                if is_on {
                    mode = stricter(mode, asked);
                }
            }
            Some(Needless) => {}
            None => left_out.push(name.clone()),
        }
    }
    let has = |wanted: &str| kept.iter().any(|(name, _)| *name == wanted);
    if backend == Backend::Mysql && !has("ssl-mode") {
        // A client that is given an authority checks the server against it.
        let mode = if has("ssl-ca") { stricter(mode, "VERIFY_CA") } else { mode };
        if let Some(mode) = mode {
            kept.push(("ssl-mode", mode.to_owned()));
        }
    }
    (kept, left_out)
}

/// TLS modes from lax to strict.
const MODES: [&str; 4] = ["DISABLED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"];

fn stricter(mode: Option<&'static str>, other: &'static str) -> Option<&'static str> {
    let rank = |mode: &str| MODES.iter().position(|known| *known == mode);
    match mode {
        Some(mode) if rank(mode) >= rank(other) => Some(mode),
        _ => Some(other),
    }
}

//! Addresses of the message bus, as oslo.messaging writes them.

use std::fmt;

use super::{Input, Kind, OptionType, Problem};
use crate::redact::url_passwords;
use crate::spec::Meta;

/// The port of a broker that names none.
const PORT: u16 = 5672;
/// User and password of a broker that names none.
const GUEST: &str = "guest";

/// One broker of several that hold the same queues.
#[derive(Clone, PartialEq, Eq)]
pub struct Broker {
    /// Name or IP address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// User.
    pub user: String,
    /// Password: never to be shown.
    pub password: String,
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Broker({}@{self})", self.user)
    }
}

/// `rabbit://user:password@host:port,user:password@host:port/vhost?option=value`,
/// which neither `Debug` nor `Display` shows with its passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct TransportUrl {
    text: String,
    /// The brokers, in the order given; at least one.
    pub brokers: Vec<Broker>,
    /// The virtual host; `/` where the path is empty.
    pub vhost: String,
    /// Options of `[oslo_messaging_rabbit]`, which win over the file's.
    pub options: Vec<(String, String)>,
}

impl TransportUrl {
    /// The whole address, passwords included: never to be shown.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Reads an address. The error says what was expected.
    ///
    /// # Errors
    /// Another scheme, no host, a port or an escape that is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or_else(form)?;
        let encrypted = match scheme {
            "rabbit" | "amqp" => false,
            "amqps" => true,
            _ => return Err("an address that begins with rabbit://".to_owned()),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let brokers = hosts.split(',').map(broker).collect::<Result<Vec<_>, _>>()?;
        let vhost = decoded(path)?;
        let vhost = if vhost.is_empty() { "/".to_owned() } else { vhost };
        let mut options = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or("name=value after each & or ?")?;
            options.push((decoded(name)?, decoded(value)?));
        }
        if encrypted {
            options.insert(0, ("ssl".to_owned(), "true".to_owned()));
        }
        Ok(Self { text: text.to_owned(), brokers, vhost, options })
    }
}

fn form() -> String {
    "an address such as rabbit://user:password@host:5672/".to_owned()
}

fn broker(text: &str) -> Result<Broker, String> {
    let (login, place) = text.rsplit_once('@').unwrap_or(("", text));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("a ] after an IPv6 address")?;
            (host, rest.strip_prefix(':').unwrap_or_default())
        }
        None => place.split_once(':').unwrap_or((place, "")),
    };
    if host.is_empty() {
        return Err("a host between // and /, and between commas".to_owned());
    }
    let port = match port {
        "" => PORT,
        port => port.parse().ok().filter(|port| *port > 0).ok_or("a port from 1 to 65535")?,
    };
    let or_guest = |text: &str| match text {
        "" if login.is_empty() => Ok(GUEST.to_owned()),
        text => decoded(text),
    };
    Ok(Broker { host: host.to_owned(), port, user: or_guest(user)?, password: or_guest(password)? })
}

/// Takes percent signs apart.
fn decoded(text: &str) -> Result<String, String> {
    const WRONG: &str = "two hexadecimal digits after each % (a percent sign itself is %25)";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or(WRONG)?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| WRONG.to_owned())
}

impl fmt::Display for TransportUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&url_passwords(&self.text))
    }
}

impl fmt::Debug for TransportUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TransportUrl({self})")
    }
}

impl OptionType for TransportUrl {
    const KIND: Kind = Kind::Url;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        Self::parse(input.scalar(Self::KIND, meta)?.trim()).map_err(Problem::new)
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.to_string()]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn shown(text: &str) -> String {
        let url = TransportUrl::parse(text).unwrap();
        let brokers: Vec<String> =
            url.brokers.iter().map(|b| format!("{}:{}@{b}", b.user, b.password)).collect();
        format!("{} {} {:?}", brokers.join(" "), url.vhost, url.options)
    }

    #[test]
    fn addresses_as_oslo_writes_them() {
        for (text, expected) in [
            ("rabbit://h", "guest:guest@h:5672 / []"),
            ("rabbit://u:p@h:5673/", "u:p@h:5673 / []"),
            ("rabbit://u:p%40s%2F@h/%2Fv", "u:p@s/@h:5672 /v []"),
            ("rabbit://u:p@a:1,v:q@b:2/x", "u:p@a:1 v:q@b:2 x []"),
            ("rabbit://u:p@[::1]:5672//", "u:p@[::1]:5672 / []"),
            (
                "rabbit://h/?ssl=1&ssl_ca_file=/a/b",
                "guest:guest@h:5672 / [(\"ssl\", \"1\"), (\"ssl_ca_file\", \"/a/b\")]",
            ),
            ("amqps://h", "guest:guest@h:5672 / [(\"ssl\", \"true\")]"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for text in [
            "kafka://h/",
            "rabbit://",
            "rabbit://u:geheim@/",
            "rabbit://u:geheim@h:x/",
            "rabbit://u:ge%zz@h/",
            "rabbit://h/?ssl",
        ] {
            let error = TransportUrl::parse(text).unwrap_err();
            assert!(!error.contains("geheim"), "{error}");
        }
        let url = TransportUrl::parse("rabbit://u:geheim@a,v:geheim@b/").unwrap();
        assert!(!format!("{url:?} {url} {:?}", url.brokers).contains("geheim"));
    }
}

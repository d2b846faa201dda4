//! The address by which a caller reached us: its own words or, where the
//! operator says so, those of the proxies before us.

use actix_web::http::header::{self, HeaderMap};

/// Where a caller reached us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// `http` or `https`.
    scheme: &'static str,
    /// Host and port; none if it is not known.
    host: Option<String>,
    /// What proxies have taken off the front of the path.
    prefix: String,
}

impl Reached {
    /// Reads the headers of a request: `Host`; with `proxied` (`[oslo_middleware]
    /// enable_proxy_headers_parsing`) `Forwarded`, or without one
    /// `X-Forwarded-Proto` and `X-Forwarded-Host`, and `X-Forwarded-Prefix`.
    #[must_use]
    pub fn of(headers: &HeaderMap, proxied: bool) -> Self {
        let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
        let mut reached = Self {
            scheme: "http",
            host: text(header::HOST.as_str()).map(str::to_owned),
            prefix: String::new(),
        };
        if !proxied {
            return reached;
        }
        let (proto, host) = match text("forwarded") {
            Some(forwarded) => (of_first(forwarded, "proto"), of_first(forwarded, "host")),
            None => (text("x-forwarded-proto"), text("x-forwarded-host")),
        };
        if proto.is_some_and(|proto| proto.eq_ignore_ascii_case("https")) {
            reached.scheme = "https";
        }
        if let Some(host) = host.filter(|host| !host.is_empty()) {
            reached.host = Some(host.to_owned());
        }
        if let Some(prefix) = text("x-forwarded-prefix") {
            reached.prefix = crate::surface::mount(prefix);
        }
        reached
    }

    /// What stands before our paths in links.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The address of a path: absolute if the host is known.
    #[must_use]
    pub fn address(&self, path: &str) -> String {
        match &self.host {
            Some(host) => format!("{}://{host}{path}", self.scheme),
            None => path.to_owned(),
        }
    }
}

/// A parameter that the first proxy gave (RFC 7239).
fn of_first<'a>(forwarded: &'a str, name: &str) -> Option<&'a str> {
    let first = forwarded.split(',').next()?;
    first.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    #[test]
    fn proxies_are_believed_if_the_operator_says_so() {
        for (proxied, lines, address) in [
            (false, &[("host", "a:8778")][..], "http://a:8778/x"),
            (false, &[("host", "a"), ("x-forwarded-proto", "https")], "http://a/x"),
            (true, &[("host", "a"), ("x-forwarded-proto", "https")], "https://a/x"),
            (true, &[("host", "a"), ("x-forwarded-host", "b")], "http://b/x"),
            (true, &[("host", "a"), ("x-forwarded-proto", "ftp")], "http://a/x"),
            (
                true,
                &[
                    ("host", "a"),
                    ("forwarded", "for=1.2.3.4;Proto=https; host=\"c:1\", proto=http;host=d"),
                    ("x-forwarded-host", "b"),
                ],
                "https://c:1/x",
            ),
            (true, &[("forwarded", "by=e")], "/x"),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(Reached::of(&headers, proxied).address("/x"), address, "{lines:?}");
        }
    }
}

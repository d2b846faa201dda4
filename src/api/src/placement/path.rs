//! Names in paths, decoded.

use crate::failure::Failure;
use actix_web::{FromRequest, HttpRequest, dev::Payload};
use std::future::{Ready, ready};

/// The variable part of a path that has one.
///
/// The router leaves the codes of `%`, `+` and `/` as they are; a slash inside
/// a part makes it another path with the peer, one that does not exist.
#[derive(Debug)]
pub struct Part(pub String);

/// The variable parts of a path that has two.
#[derive(Debug)]
pub struct Pair(pub String, pub String);

impl FromRequest for Part {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(parts(request).map(|[part]| Self(part)))
    }
}

impl FromRequest for Pair {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(parts(request).map(|[first, second]| Self(first, second)))
    }
}

fn parts<const N: usize>(request: &HttpRequest) -> Result<[String; N], Failure> {
    let parts: Option<Vec<String>> =
        request.match_info().iter().map(|(_, part)| decode(part)).collect();
    parts.and_then(|parts| parts.try_into().ok()).ok_or_else(Failure::no_route)
}

/// Decodes what the router has left; nothing for a slash.
#[must_use]
pub fn decode(part: &str) -> Option<String> {
    if !part.contains('%') {
        return Some(part.to_owned());
    }
    let mut decoded = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('%') {
        decoded.push_str(&rest[..at]);
        let (kept, length) = match rest.get(at..at + 3).map(str::to_ascii_lowercase).as_deref() {
            Some("%2f") => return None,
            Some("%25") => ('%', 3),
            Some("%2b") => ('+', 3),
            _ => ('%', 1),
        };
        decoded.push(kept);
        rest = &rest[at + length..];
    }
    decoded.push_str(rest);
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_router_leaves_is_decoded_once() {
        for (part, decoded) in [
            ("VCPU", Some("VCPU")),
            ("a%2Bb", Some("a+b")),
            ("100%25", Some("100%")),
            ("%252F", Some("%2F")),
            ("a%2fb", None),
            ("50%", Some("50%")),
            ("%\u{2603}", Some("%\u{2603}")),
        ] {
            assert_eq!(decode(part).as_deref(), decoded, "{part}");
        }
    }
}

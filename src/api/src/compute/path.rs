//! Ids in paths.

use super::version::{Feature, Microversion};
use crate::{failure::Failure, placement::path::decode, schema::lenient_uuid};
use actix_web::{FromRequest, HttpRequest, dev::Payload};
use std::future::{Ready, ready};
use stowplan_model::Uuid;

/// The part of a path that says which thing is meant, decoded.
#[derive(Debug)]
pub struct Id(pub String);

impl FromRequest for Id {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("id").and_then(decode);
        ready(id.map(Self).ok_or_else(Failure::no_route))
    }
}

/// How a thing is named: by its integer id before 2.53, by its uuid from then
/// on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The integer id; nothing for a number that no id can be.
    Number(Option<i64>),
    /// The uuid.
    Uuid(Uuid),
}

impl Key {
    /// Reads an id in the way of a microversion.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(text: &str, version: Microversion) -> Result<Self, String> {
        if version.has(Feature::Uuids) {
            let uuid = lenient_uuid(text).map(Self::Uuid);
            return uuid.ok_or_else(|| format!("Invalid uuid {text}: expected a uuid as the id"));
        }
        number(text).map(Self::Number)
    }
}

/// Reads an integer id.
///
/// # Errors
/// What is wrong with it, in words.
pub fn number(text: &str) -> Result<Option<i64>, String> {
    let trimmed = text.trim();
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("Invalid input received: id is {text}: expected a whole number"));
    }
    Ok(trimmed.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_by_version() {
        for (text, version, key) in [
            ("7", Microversion::MIN, Some(Key::Number(Some(7)))),
            ("-1", Microversion::MIN, Some(Key::Number(Some(-1)))),
            ("99999999999999999999", Microversion::MIN, Some(Key::Number(None))),
            ("seven", Microversion::MIN, None),
            ("", Microversion::MIN, None),
            ("7", Microversion::MAX, None),
            (
                "2290d4af-9e6e-400b-9d65-1ee01376f71a",
                Microversion::MAX,
                Some(Key::Uuid(Uuid::from_u128(0x2290_d4af_9e6e_400b_9d65_1ee0_1376_f71a))),
            ),
        ] {
            assert_eq!(Key::read(text, version).ok(), key, "{text} {version}");
        }
    }
}

//! Addresses that hold passwords.

use std::fmt;

use super::{Input, Kind, OptionType, Problem};
use crate::redact::url_passwords;
use crate::spec::Meta;

/// An address with a password in it, which neither `Debug` nor `Display` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretUrl(String);

impl SecretUrl {
    /// The whole address, password included: never to be shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&url_passwords(&self.0))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretUrl({self})")
    }
}

impl OptionType for SecretUrl {
    const KIND: Kind = Kind::Url;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let text = input.scalar(Self::KIND, meta)?.trim();
        if !text.contains("://") {
            return Err(Problem::expected(Self::KIND, meta));
        }
        Ok(Self(text.to_owned()))
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.to_string()]
    }
}

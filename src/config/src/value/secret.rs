//! Passwords.

use std::fmt;

use super::{Input, Kind, OptionType, Problem};
use crate::spec::Meta;

/// A password, which neither `Debug` nor the sample shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The password: never to be shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl OptionType for Secret {
    const KIND: Kind = Kind::String;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        Ok(Self(input.scalar(Self::KIND, meta)?.to_owned()))
    }

    /// The password itself: whoever shows an option that is marked secret hides it.
    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.0.clone()]
    }
}

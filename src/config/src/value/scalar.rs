//! Booleans, texts, paths, and options that may be unset.

use std::path::PathBuf;

use super::{Input, Kind, OptionType, Problem};
use crate::spec::Meta;

impl OptionType for bool {
    const KIND: Kind = Kind::Boolean;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let text = input.scalar(Self::KIND, meta)?;
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "on" | "yes" => Ok(true),
            "false" | "0" | "off" | "no" => Ok(false),
            _ => Err(Problem::expected(Self::KIND, meta)),
        }
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.to_string()]
    }
}

impl OptionType for String {
    const KIND: Kind = Kind::String;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let text = input.scalar(Self::KIND, meta)?;
        if !meta.words.is_empty() && !meta.words.contains(&text) {
            return Err(Problem::expected(Self::KIND, meta));
        }
        Ok(text.to_owned())
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.clone()]
    }
}

impl OptionType for PathBuf {
    const KIND: Kind = Kind::Path;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        match input.scalar(Self::KIND, meta)? {
            "" => Err(Problem::expected(Self::KIND, meta)),
            text => Ok(Self::from(text)),
        }
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![self.display().to_string()]
    }
}

/// An empty value unsets the option.
impl<T: OptionType> OptionType for Option<T> {
    const KIND: Kind = T::KIND;

    fn read(input: Input<'_>, meta: &Meta, notes: &mut Vec<String>) -> Result<Self, Problem> {
        if input.scalar(Self::KIND, meta)?.trim().is_empty() {
            return Ok(None);
        }
        T::read(input, meta, notes).map(Some)
    }

    fn texts(&self, meta: &Meta) -> Vec<String> {
        self.as_ref().map_or_else(Vec::new, |value| value.texts(meta))
    }
}

//! Texts with places for what a call is about: `%(project_id)s`.

use super::{CheckFault, Target};
use std::borrow::Cow;

/// A text with places, written as Python does: `%(name)s`, and `%%` for `%`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Attribute(String),
}

impl Template {
    /// Reads a text with places.
    ///
    /// # Errors
    /// When a `%` is neither doubled nor the start of a place.
    pub fn parse(text: &str) -> Result<Self, CheckFault> {
        let fault = || CheckFault::Place(text.to_owned());
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            let (before, after) = (&rest[..at], &rest[at + 1..]);
            if let Some(after) = after.strip_prefix('%') {
                parts.push(Part::Text(format!("{before}%")));
                rest = after;
                continue;
            }
            let inner = after.strip_prefix('(').and_then(|inner| inner.split_once(")s"));
            let (name, after) = inner.ok_or_else(fault)?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Attribute(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }

    /// The text for a target; nothing if the target has no such attribute.
    pub fn fill<'a>(&'a self, target: Target<'a>) -> Option<Cow<'a, str>> {
        let part = |part: &'a Part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Attribute(name) => target.attribute(name),
        };
        match self.0.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [only] => part(only).map(Cow::Borrowed),
            parts => parts.iter().map(part).collect::<Option<String>>().map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled() {
        let attributes = [("a", Some("1")), ("none", None)];
        for (text, filled) in [
            ("", Some("")),
            ("x", Some("x")),
            ("%(a)s", Some("1")),
            ("x-%(a)s%%%(a)s", Some("x-1%1")),
            ("%(none)s", Some("None")),
            ("%(b)s", None),
        ] {
            let template = Template::parse(text);
            let found = template.as_ref().map(|it| it.fill(Target(&attributes)));
            assert_eq!(found, Ok(filled.map(Cow::Borrowed)), "{text}");
        }
        for text in ["%", "5%x", "%(a", "%(a)d", "%s"] {
            assert_eq!(Template::parse(text), Err(CheckFault::Place(text.to_owned())));
        }
    }
}

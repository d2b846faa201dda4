//! Checks, and whether they hold for a caller.

use super::template::Template;
use crate::auth::{Attribute, Token};
use std::collections::HashMap;

/// What Nova's rules ask of a caller, and the rule that answers it there.
pub(super) const IS_ADMIN: (&str, &str) = ("is_admin", "context_is_admin");

/// How deep rules may refer to one another: a circle ends in a refusal.
const MAX_DEPTH: usize = 32;

/// What a call is about: attributes by name. One without a value is written
/// `None`, as the peer does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target<'a>(pub &'a [(&'static str, Option<&'a str>)]);

impl<'a> Target<'a> {
    pub(super) fn attribute(self, name: &str) -> Option<&'a str> {
        let (_, value) = self.0.iter().find(|(known, _)| *known == name)?;
        Some(value.unwrap_or("None"))
    }
}

/// A check as it is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// `@` or nothing: always holds.
    Always,
    /// `!`: never holds.
    Never,
    /// `role:NAME`: the caller has the role.
    Role(Template),
    /// `rule:NAME`: that rule holds.
    Rule(String),
    /// `'TEXT':VALUE`: a text, written as a Python literal, is the value.
    Literal(String, Template),
    /// `NAME:VALUE`: an attribute of the caller is the value.
    Attribute(String, Template),
    /// All of these hold.
    All(Vec<Check>),
    /// One of these holds.
    Any(Vec<Check>),
    /// This does not hold.
    Not(Box<Check>),
}

/// The rules that a check may refer to.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Rules by name.
    pub by_name: HashMap<String, Check>,
    /// The name of the rule that stands in for one that is not there.
    pub stand_in: String,
}

impl Rules {
    /// The rule of a name, or the one that stands in for it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Check> {
        self.by_name.get(name).or_else(|| self.by_name.get(&self.stand_in))
    }
}

impl Check {
    /// Whether the check holds for a caller and a target.
    #[must_use]
    pub fn holds(&self, token: &Token, target: Target<'_>, rules: &Rules) -> bool {
        self.holds_within(token, target, rules, MAX_DEPTH)
    }

    fn holds_within(&self, token: &Token, target: Target<'_>, rules: &Rules, depth: usize) -> bool {
        let holds = |check: &Self| check.holds_within(token, target, rules, depth);
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Role(role) => role.fill(target).is_some_and(|role| token.has_role(&role)),
            Self::Rule(name) => depth.checked_sub(1).is_some_and(|depth| {
                rules.get(name).is_some_and(|rule| rule.holds_within(token, target, rules, depth))
            }),
            Self::Literal(text, value) => value.fill(target).is_some_and(|value| value == *text),
            Self::Attribute(name, value) if name == IS_ADMIN.0 => {
                depth.checked_sub(1).is_some_and(|depth| {
                    let Some(rule) = rules.by_name.get(IS_ADMIN.1) else { return false };
                    let is_admin = rule.holds_within(token, target, rules, depth);
                    let said = if is_admin { "True" } else { "False" };
                    value.fill(target).is_some_and(|value| value == said)
                })
            }
            Self::Attribute(name, value) => {
                value.fill(target).is_some_and(|value| match token.attribute(name) {
                    Some(Attribute::One(text)) => text == value,
                    Some(Attribute::Any(texts)) => texts.iter().any(|text| *text == value),
                    None => false,
                })
            }
            Self::All(checks) => checks.iter().all(holds),
            Self::Any(checks) => checks.iter().any(holds),
            Self::Not(check) => !holds(check),
        }
    }

    /// Shows this check and every check in it, without following rules.
    pub(super) fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        match self {
            Self::All(checks) | Self::Any(checks) => {
                checks.iter().for_each(|check| check.visit(see));
            }
            Self::Not(check) => check.visit(see),
            _ => {}
        }
    }
}

//! The language of policy rules: `role:admin and not (rule:other or @)`.

use crate::auth::Token;
use std::collections::HashMap;
use thiserror::Error;

/// How deep rules may refer to one another: a circle ends in a refusal.
const MAX_DEPTH: usize = 32;

/// What a call is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target<'a> {
    /// The project asked about.
    pub project_id: Option<&'a str>,
}

/// A check as it is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// `@` or nothing: always holds.
    Always,
    /// `!`: never holds.
    Never,
    /// `role:NAME`: the caller has the role.
    Role(String),
    /// `rule:NAME`: that rule holds.
    Rule(String),
    /// `KIND:VALUE`: an attribute of the caller equals a text or, written
    /// `%(name)s`, an attribute of the target.
    Equal(Side, Side),
    /// All of these hold.
    All(Vec<Check>),
    /// One of these holds.
    Any(Vec<Check>),
    /// This does not hold.
    Not(Box<Check>),
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// `user_id` of the caller.
    User,
    /// `project_id` of the caller.
    Project,
    /// `%(project_id)s`: the project asked about.
    TargetProject,
    /// The text itself.
    Text(String),
}

/// Why a rule cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckFault {
    /// A word that is no check.
    #[error("'{0}' is no check: expected KIND:VALUE, '@' or '!'")]
    Word(String),
    /// An attribute that is not known.
    #[error(
        "'{0}' is not known: expected role, rule, user_id, project_id, a quoted text or %(project_id)s"
    )]
    Attribute(String),
    /// The rule ends where something was expected.
    #[error("the rule ends where a check was expected")]
    End,
    /// Parentheses do not match, or two checks stand side by side.
    #[error("'{0}' is not expected here")]
    Surplus(String),
}

impl Check {
    /// Reads a rule.
    ///
    /// # Errors
    /// Naming the word that cannot be read.
    pub fn parse(text: &str) -> Result<Self, CheckFault> {
        if text.trim().is_empty() {
            return Ok(Self::Always);
        }
        let mut words = Words { words: split(text), at: 0 };
        let check = words.any()?;
        match words.next() {
            None => Ok(check),
            Some(word) => Err(CheckFault::Surplus(word)),
        }
    }

    /// Whether the check holds for a caller and a target.
    #[must_use]
    pub fn holds(&self, token: &Token, target: Target<'_>, rules: &HashMap<String, Self>) -> bool {
        self.holds_within(token, target, rules, MAX_DEPTH)
    }

    fn holds_within(
        &self,
        token: &Token,
        target: Target<'_>,
        rules: &HashMap<String, Self>,
        depth: usize,
    ) -> bool {
        let holds = |check: &Self| check.holds_within(token, target, rules, depth);
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Role(role) => token.has_role(role),
            Self::Rule(name) => depth.checked_sub(1).is_some_and(|depth| {
                rules.get(name).is_some_and(|rule| rule.holds_within(token, target, rules, depth))
            }),
            Self::Equal(left, right) => {
                let value = left.value(token, target);
                value.is_some() && value == right.value(token, target)
            }
            Self::All(checks) => checks.iter().all(holds),
            Self::Any(checks) => checks.iter().any(holds),
            Self::Not(check) => !holds(check),
        }
    }
}

impl Side {
    fn parse(text: &str) -> Result<Self, CheckFault> {
        let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
        match text {
            "user_id" => Ok(Self::User),
            "project_id" | "tenant_id" => Ok(Self::Project),
            "%(project_id)s" | "%(tenant_id)s" => Ok(Self::TargetProject),
            _ => match quoted('\'').or_else(|| quoted('"')) {
                Some(inner) => Ok(Self::Text(inner.to_owned())),
                None => Err(CheckFault::Attribute(text.to_owned())),
            },
        }
    }

    fn value<'a>(&'a self, token: &'a Token, target: Target<'a>) -> Option<&'a str> {
        match self {
            Self::User => Some(&token.user),
            Self::Project => token.project.as_deref(),
            Self::TargetProject => target.project_id,
            Self::Text(text) => Some(text),
        }
    }
}

struct Words {
    words: Vec<String>,
    at: usize,
}

impl Words {
    fn next(&mut self) -> Option<String> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    /// Takes the next word if it is this one, in any letter case.
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|next| next.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Check, CheckFault> {
        let mut checks = vec![self.all()?];
        while self.take("or") {
            checks.push(self.all()?);
        }
        Ok(single_or(checks, Check::Any))
    }

    fn all(&mut self) -> Result<Check, CheckFault> {
        let mut checks = vec![self.one()?];
        while self.take("and") {
            checks.push(self.one()?);
        }
        Ok(single_or(checks, Check::All))
    }

    fn one(&mut self) -> Result<Check, CheckFault> {
        if self.take("not") {
            return Ok(Check::Not(Box::new(self.one()?)));
        }
        if self.take("(") {
            let check = self.any()?;
            return match self.next() {
                Some(word) if word == ")" => Ok(check),
                Some(word) => Err(CheckFault::Surplus(word)),
                None => Err(CheckFault::End),
            };
        }
        leaf(&self.next().ok_or(CheckFault::End)?)
    }
}

fn leaf(word: &str) -> Result<Check, CheckFault> {
    match word {
        "@" => return Ok(Check::Always),
        "!" => return Ok(Check::Never),
        ")" => return Err(CheckFault::Surplus(word.to_owned())),
        _ => {}
    }
    let (kind, value) = word.split_once(':').ok_or_else(|| CheckFault::Word(word.to_owned()))?;
    match kind {
        "role" => Ok(Check::Role(value.to_owned())),
        "rule" => Ok(Check::Rule(value.to_owned())),
        _ => {
            let right = Side::parse(value).unwrap_or_else(|_| Side::Text(value.to_owned()));
            Ok(Check::Equal(Side::parse(kind)?, right))
        }
    }
}

fn single_or(mut checks: Vec<Check>, many: fn(Vec<Check>) -> Check) -> Check {
    match (checks.pop(), checks.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            checks.extend(last);
            many(checks)
        }
    }
}

/// Words at blanks, parentheses as words of their own; those of `%(name)s`
/// stay where they are.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for chunk in text.split_whitespace() {
        let inner = chunk.trim_start_matches('(');
        words.extend((0..chunk.len() - inner.len()).map(|_| "(".to_owned()));
        let body = inner.trim_end_matches(')');
        if !body.is_empty() {
            words.push(body.to_owned());
        }
        words.extend((0..inner.len() - body.len()).map(|_| ")".to_owned()));
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::auth::Scope;

    fn holds(text: &str) -> bool {
        let token = Token {
            user: "ann".to_owned(),
            project: Some("p1".to_owned()),
            roles: vec!["reader".to_owned()],
            scope: Scope::Project,
        };
        let rules = HashMap::from([
            ("readers".to_owned(), Check::parse("role:Reader").unwrap()),
            ("circle".to_owned(), Check::parse("rule:circle").unwrap()),
        ]);
        let target = Target { project_id: Some("p1") };
        Check::parse(text).unwrap().holds(&token, target, &rules)
    }

    #[test]
    fn the_language() {
        for (text, expected) in [
            ("", true),
            ("@", true),
            ("!", false),
            ("role:READER", true),
            ("role:admin or role:reader", true),
            ("role:admin and role:reader", false),
            ("not role:admin", true),
            ("role:admin or (role:reader and not (user_id:bob))", true),
            ("role:reader and project_id:%(project_id)s", true),
            ("'p2':%(project_id)s", false),
            ("(rule:readers) and user_id:ann", true),
            ("rule:missing", false),
            ("rule:circle", false),
            ("role:reader or role:x and role:y", true),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn faults_name_the_word() {
        for (text, fault) in [
            ("admin", CheckFault::Word("admin".to_owned())),
            ("role:a and", CheckFault::End),
            ("(role:a", CheckFault::End),
            ("role:a)", CheckFault::Surplus(")".to_owned())),
            ("role:a role:b", CheckFault::Surplus("role:b".to_owned())),
            ("shoe:12", CheckFault::Attribute("shoe".to_owned())),
        ] {
            assert_eq!(Check::parse(text), Err(fault), "{text}");
        }
    }
}

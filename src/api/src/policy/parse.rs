//! The language of policy rules, `role:admin and not (rule:other or @)`, and its
//! older form, lists of lists.

use super::{Check, template::Template};
use stowplan_model::pytext;
use thiserror::Error;

/// How deep parentheses and `not` may stand in one another.
const MAX_NESTING: usize = 64;

/// Why a rule cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckFault {
    /// A word that is no check.
    #[error("'{0}' is no check: expected KIND:VALUE, '@' or '!'")]
    Word(String),
    /// What stands before the colon can be nothing.
    #[error(
        "'{0}' is not known: expected role, rule, an attribute of the caller, or a quoted text, a \
         number, True, False or None"
    )]
    Kind(String),
    /// A check that would ask another service.
    #[error("'{0}' would ask another service, which is not supported: write the check here")]
    Remote(String),
    /// A `%` that starts nothing.
    #[error("'{0}' has a % that is neither %(name)s nor %%")]
    Place(String),
    /// The rule ends where something was expected.
    #[error("the rule ends where a check was expected")]
    End,
    /// Parentheses do not match, or two checks stand side by side.
    #[error("'{0}' is not expected here")]
    Surplus(String),
    /// Too many parentheses in one another.
    #[error("it is nested more than {MAX_NESTING} deep")]
    Nesting,
}

impl Check {
    /// Reads a rule.
    ///
    /// # Errors
    /// Naming the word that cannot be read.
    pub fn parse(text: &str) -> Result<Self, CheckFault> {
        let mut words = Words { words: split(text).into_iter().peekable(), nesting: 0 };
        if words.words.peek().is_none() {
            return Ok(Self::Always);
        }
        let check = words.any()?;
        match words.words.next() {
            None => Ok(check),
            Some(word) => Err(CheckFault::Surplus(word.to_owned())),
        }
    }

    /// Reads a rule in the older form: one of these lists must hold, each with
    /// all of its checks. No list at all always holds.
    ///
    /// # Errors
    /// Naming the word that cannot be read.
    pub fn parse_lists(lists: &[Vec<String>]) -> Result<Self, CheckFault> {
        if lists.is_empty() {
            return Ok(Self::Always);
        }
        let filled = lists.iter().filter(|list| !list.is_empty());
        let all = filled.map(|list| {
            let checks = list.iter().map(|word| leaf(word)).collect::<Result<_, _>>()?;
            Ok(single_or(checks, Self::All))
        });
        let any: Vec<Self> = all.collect::<Result<_, CheckFault>>()?;
        Ok(if any.is_empty() { Self::Never } else { single_or(any, Self::Any) })
    }
}

struct Words<'a> {
    words: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
    nesting: usize,
}

impl Words<'_> {
    /// Takes the next word if it is this one, in any letter case.
    fn take(&mut self, word: &str) -> bool {
        self.words.next_if(|next| next.eq_ignore_ascii_case(word)).is_some()
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
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(CheckFault::Nesting);
        }
        let check = if self.take("not") {
            Check::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let check = self.any()?;
            match self.words.next() {
                Some(")") => check,
                Some(word) => return Err(CheckFault::Surplus(word.to_owned())),
                None => return Err(CheckFault::End),
            }
        } else {
            leaf(self.words.next().ok_or(CheckFault::End)?)?
        };
        self.nesting -= 1;
        Ok(check)
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
        "role" => Ok(Check::Role(Template::parse(value)?)),
        "rule" => Ok(Check::Rule(value.to_owned())),
        "http" | "https" => Err(CheckFault::Remote(word.to_owned())),
        _ => {
            let value = Template::parse(value)?;
            if let Some(text) = literal(kind) {
                return Ok(Check::Literal(text, value));
            }
            let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
            if kind.starts_with(|letter: char| !letter.is_alphabetic() && letter != '_')
                || kind.is_empty()
                || !kind.chars().all(is_name)
            {
                return Err(CheckFault::Kind(kind.to_owned()));
            }
            Ok(Check::Attribute(kind.to_owned(), value))
        }
    }
}

/// The text of a literal as Python writes it.
fn literal(word: &str) -> Option<String> {
    let quoted = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(inner) = quoted('\'').or_else(|| quoted('"')) {
        return (!inner.contains(['\'', '"', '\\'])).then(|| inner.to_owned());
    }
    if ["True", "False", "None"].contains(&word) {
        return Some(word.to_owned());
    }
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_number {
        return None;
    }
    match word.parse::<i64>() {
        Ok(whole) => Some(whole.to_string()).filter(|text| text == word),
        Err(_) => word.contains('.').then(|| word.parse().ok().map(pytext::repr_float))?,
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
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for chunk in text.split_whitespace() {
        let inner = chunk.trim_start_matches('(');
        let body = inner.trim_end_matches(')');
        words.extend(std::iter::repeat_n("(", chunk.len() - inner.len()));
        words.extend((!body.is_empty()).then_some(body));
        words.extend(std::iter::repeat_n(")", inner.len() - body.len()));
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::{
        auth::Token,
        policy::{Target, check::Rules},
    };
    use std::collections::HashMap;

    fn holds(check: &Check) -> bool {
        let token = Token {
            user: "ann".to_owned(),
            project: Some("p1".to_owned()),
            roles: vec!["reader".to_owned()],
            ..Token::default()
        };
        let by_name = HashMap::from([
            ("readers".to_owned(), Check::parse("role:Reader").unwrap()),
            ("nobody".to_owned(), Check::Never),
        ]);
        let rules = Rules { by_name, stand_in: "default".to_owned() };
        check.holds(&token, Target(&[("project_id", Some("p1")), ("user_id", None)]), &rules)
    }

    #[test]
    fn the_language() {
        for (text, expected) in [
            ("", true),
            (" ", true),
            ("@", true),
            ("!", false),
            ("role:READER", true),
            ("role:admin or role:reader", true),
            ("role:admin AND role:reader", false),
            ("not role:admin", true),
            ("not not role:admin", false),
            ("role:admin or (role:reader and not (user_id:bob))", true),
            ("role:reader and project_id:%(project_id)s", true),
            ("'p2':%(project_id)s", false),
            ("\"p1\":%(project_id)s", true),
            ("'x-p1':x-%(project_id)s", true),
            ("None:%(user_id)s", true),
            ("'ann':%(no_such)s", false),
            ("12:12 and 1.50:1.5 and -3:-3 and True:True", true),
            ("1.50:1.50", false),
            ("roles:reader and is_admin_project:True", true),
            ("domain_id:None and not system_scope:all", true),
            ("is_admin:True", false),
            ("user_id.name:ann", false),
            ("(rule:readers) and user_id:ann", true),
            ("rule:missing", false),
            ("role:reader or role:x and role:y", true),
            ("(role:reader or role:x) and role:y", false),
        ] {
            assert_eq!(holds(&Check::parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn lists_of_lists() {
        for (lists, expected) in [
            (&[][..], true),
            (&[&[][..]], false),
            (&[&["role:admin"], &["role:reader"]], true),
            (&[&["role:admin", "role:reader"]], false),
            (&[&["rule:readers", "user_id:ann"], &[]], true),
        ] {
            let lists: Vec<Vec<String>> = lists
                .iter()
                .map(|list| list.iter().map(|word| (*word).to_owned()).collect())
                .collect();
            assert_eq!(holds(&Check::parse_lists(&lists).unwrap()), expected, "{lists:?}");
        }
    }

    #[test]
    fn faults_name_the_word() {
        let deep = "(".repeat(MAX_NESTING + 1);
        for (text, fault) in [
            ("admin", CheckFault::Word("admin".to_owned())),
            ("role:a and", CheckFault::End),
            ("(role:a", CheckFault::End),
            ("role:a)", CheckFault::Surplus(")".to_owned())),
            ("()", CheckFault::Surplus(")".to_owned())),
            ("role:a role:b", CheckFault::Surplus("role:b".to_owned())),
            ("'a:b':x", CheckFault::Kind("'a".to_owned())),
            ("user-id:x", CheckFault::Kind("user-id".to_owned())),
            (":x", CheckFault::Kind(String::new())),
            ("007:x", CheckFault::Kind("007".to_owned())),
            ("role:50%", CheckFault::Place("50%".to_owned())),
            ("http://a/b", CheckFault::Remote("http://a/b".to_owned())),
            (&deep, CheckFault::Nesting),
        ] {
            assert_eq!(Check::parse(text), Err(fault), "{text}");
        }
    }
}

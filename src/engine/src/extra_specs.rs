//! What the value of an extra spec asks for: the operators of Nova's filters.

use stowplan_model::pytext;

use crate::fault::{Fault, FaultKind};

/// A parsed requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    text: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// The whole text, as it is.
    Exactly,
    /// An operator without its operand holds for nothing.
    Never,
    Number(Numeric, String),
    Text(Textual, String),
    Contains(String),
    ContainsAll(Vec<String>),
    /// One of several; `None` when the operator has no operand at all.
    OneOf(Option<Vec<String>>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Numeric {
    AtLeast,
    AtMost,
    Equal,
    Different,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Textual {
    Equal,
    Different,
    Less,
    AtMost,
    More,
    AtLeast,
}

const NUMERIC: [(&str, Numeric); 5] = [
    ("=", Numeric::AtLeast),
    (">=", Numeric::AtLeast),
    ("<=", Numeric::AtMost),
    ("==", Numeric::Equal),
    ("!=", Numeric::Different),
];

const TEXTUAL: [(&str, Textual); 6] = [
    ("s==", Textual::Equal),
    ("s!=", Textual::Different),
    ("s<", Textual::Less),
    ("s<=", Textual::AtMost),
    ("s>", Textual::More),
    ("s>=", Textual::AtLeast),
];

fn find<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, operator)| *operator)
}

impl Requirement {
    /// Reads a requirement: an operator and its operands, or plain text. Note
    /// that `>` and `<` are no operators.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut words =
            text.split(pytext::is_space).filter(|word| !word.is_empty()).map(str::to_owned);
        let operator = words.next().unwrap_or_default();
        let rest: Vec<String> = words.collect();
        let first = || rest.first().cloned();
        let test = if let Some(numeric) = find(&NUMERIC, &operator) {
            first().map_or(Test::Never, |word| Test::Number(numeric, word))
        } else if let Some(textual) = find(&TEXTUAL, &operator) {
            first().map_or(Test::Never, |word| Test::Text(textual, word))
        } else {
            match operator.as_str() {
                "<in>" => first().map_or(Test::Never, Test::Contains),
                "<all-in>" if rest.is_empty() => Test::Never,
                "<all-in>" => Test::ContainsAll(rest),
                "<or>" if rest.is_empty() => Test::OneOf(None),
                "<or>" => Test::OneOf(Some(rest.into_iter().step_by(2).collect())),
                _ => Test::Exactly,
            }
        };
        Self { text: text.to_owned(), test }
    }

    /// The text as given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a value meets it.
    ///
    /// # Errors
    /// A number was asked for and one side is none, or `<or>` has no operand.
    pub fn holds(&self, value: &str) -> Result<bool, Fault> {
        Ok(match &self.test {
            Test::Exactly => value == self.text,
            Test::Never => false,
            Test::Number(operator, word) => {
                let (value, word) = (self.number(value)?, self.number(word)?);
                match operator {
                    Numeric::AtLeast => value >= word,
                    Numeric::AtMost => value <= word,
                    Numeric::Equal => value == word,
                    Numeric::Different => value != word,
                }
            }
            Test::Text(operator, word) => {
                let word = word.as_str();
                match operator {
                    Textual::Equal => value == word,
                    Textual::Different => value != word,
                    Textual::Less => value < word,
                    Textual::AtMost => value <= word,
                    Textual::More => value > word,
                    Textual::AtLeast => value >= word,
                }
            }
            Test::Contains(word) => value.contains(word),
            Test::ContainsAll(words) => words.iter().all(|word| value.contains(word)),
            Test::OneOf(Some(words)) => words.iter().any(|word| word == value),
            Test::OneOf(None) => {
                return Err(Fault::new(
                    FaultKind::Operand,
                    format!("\"{}\": expected at least one value after <or>", self.text),
                ));
            }
        })
    }

    fn number(&self, text: &str) -> Result<f64, Fault> {
        pytext::float(text).ok_or_else(|| {
            Fault::value(format!("\"{}\" compares numbers and \"{text}\" is none", self.text))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn holds(requirement: &str, value: &str) -> Result<bool, FaultKind> {
        Requirement::parse(requirement).holds(value).map_err(|fault| fault.kind)
    }

    #[test]
    fn operators() {
        for (requirement, value, expected) in [
            ("= 4", "5", true),
            (">= 4", "3.9", false),
            ("<= 4", "1e0", true),
            ("== 4", "4.0", true),
            ("!= 4", "4", false),
            ("s== a", "a", true),
            ("s< b", "a", true),
            ("s>= b", "a", false),
            ("<in> ss", "sse mmx", true),
            ("<all-in> sse aes", "sse mmx", false),
            ("<or> a <or> b", "b", true),
            ("<or> a <or> b", "<or>", false),
            // No operators: the whole text must be equal.
            ("> 3", "4", false),
            ("> 3", "> 3", true),
            ("", "", true),
            (" a", "a", false),
            // No operand, no host.
            (">=", "4", false),
            ("<all-in>", "4", false),
            ("<in>", "", false),
        ] {
            assert_eq!(holds(requirement, value), Ok(expected), "{requirement}");
        }
    }

    #[test]
    fn what_cannot_be_compared_is_a_fault() {
        assert_eq!(holds("== x", "4"), Err(FaultKind::Value));
        assert_eq!(holds("!= 4", "True"), Err(FaultKind::Value));
        assert_eq!(holds("<or>", "4"), Err(FaultKind::Operand));
    }
}

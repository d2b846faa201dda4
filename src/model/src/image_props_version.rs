//! Conditions on a hypervisor's version, such as `>=4.0,<7.0`.

use std::fmt;

use pep440_rs::Version;

use crate::pytext;

/// Comma-joined conditions on a version; all of them must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionConditions {
    text: String,
    conditions: Vec<(Comparison, Version)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    AtMost,
    AtLeast,
    Less,
    More,
    Differs,
    Equals,
}

/// Longer words first, so that `<=` is not read as `<`.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::Differs),
    ("==", Comparison::Equals),
    ("<", Comparison::Less),
    (">", Comparison::More),
];

impl VersionConditions {
    /// Reads conditions, each a comparison and a version with blanks allowed
    /// around both; `None` when the text is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let conditions = text.split(',').map(condition).collect::<Option<Vec<_>>>()?;
        Some(Self { text: text.to_owned(), conditions })
    }

    /// Whether a hypervisor meets them all. The number is read as
    /// n / 1,000,000 . n / 1,000 mod 1,000 . n mod 1,000.
    #[must_use]
    pub fn hold_for(&self, hypervisor_version: i64) -> bool {
        let number = hypervisor_version.unsigned_abs();
        let version = Version::new([number / 1_000_000, number / 1_000 % 1_000, number % 1_000]);
        self.conditions.iter().all(|(comparison, wanted)| {
            let order = version.cmp(wanted);
            match comparison {
                Comparison::AtMost => order.is_le(),
                Comparison::AtLeast => order.is_ge(),
                Comparison::Less => order.is_lt(),
                Comparison::More => order.is_gt(),
                Comparison::Differs => order.is_ne(),
                Comparison::Equals => order.is_eq(),
            }
        })
    }
}

impl fmt::Display for VersionConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn condition(text: &str) -> Option<(Comparison, Version)> {
    let text = text.trim_matches(pytext::is_space);
    let (word, comparison) = COMPARISONS.iter().find(|(word, _)| text.starts_with(word))?;
    let version = text[word.len()..].trim_start_matches(pytext::is_space);
    if version.contains(pytext::is_space) {
        return None;
    }
    Some((*comparison, version.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        for (text, version, holds) in [
            ("==6.2", 6_002_000, true),
            (" <= 6.2.0 ", 6_002_000, true),
            (">=4.0,<7.0", 6_002_000, true),
            (">=4.0 , < 6.2", 6_002_000, false),
            ("!=6.2", 5_999_999, true),
            (">8.0rc1", 8_000_000, true),
        ] {
            let conditions = VersionConditions::parse(text).unwrap();
            assert_eq!(conditions.hold_for(version), holds, "{text}");
        }
        for text in ["", "junk", "6.2", "=6.2", ">= 6 2", ">=4.0,", "<>1"] {
            assert_eq!(VersionConditions::parse(text), None, "{text}");
        }
    }
}

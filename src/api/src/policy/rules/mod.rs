//! The rules that exist, with the checks they have unless a file says
//! otherwise: one table for each surface.

mod base;
mod compute;
mod native;
mod placement;

use super::Check;
use std::collections::HashMap;

const ADMIN_OR_SERVICE: &str = "rule:admin_or_service_api";

/// A rule with its default.
#[derive(Clone, Copy, Debug)]
pub struct DefaultRule {
    /// Its name.
    pub name: &'static str,
    /// Its check.
    pub text: &'static str,
    /// The rule that it took the place of.
    pub older: Option<Older>,
}

/// A rule that is there no more.
#[derive(Clone, Copy, Debug)]
pub struct Older {
    /// Its name.
    pub name: &'static str,
    /// Its check.
    pub text: &'static str,
}

impl DefaultRule {
    /// The check in force where no file has this rule. A file that has the
    /// older one is obeyed; else what that allows passes too, unless the new
    /// defaults are enforced.
    pub(super) fn check(&self, enforce_new: bool, replaced: &HashMap<String, Check>) -> Check {
        let new = read(self.text);
        let Some(older) = self.older else { return new };
        let old = read(older.text);
        match replaced.get(older.name) {
            Some(check) if *check != old && *check != Check::Rule(self.name.to_owned()) => {
                check.clone()
            }
            _ if enforce_new || new == old => new,
            _ => Check::Any(vec![new, old]),
        }
    }
}

/// A default as it stands in a table; a test reads them all.
fn read(text: &str) -> Check {
    Check::parse(text).unwrap_or(Check::Never)
}

const fn rule(name: &'static str, text: &'static str) -> DefaultRule {
    DefaultRule { name, text, older: None }
}

/// Every rule.
pub fn defaults() -> impl Iterator<Item = &'static DefaultRule> {
    [base::RULES, placement::RULES, compute::RULES, native::RULES].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_default_can_be_read_and_stands_once() {
        let names: BTreeSet<_> = defaults().map(|rule| rule.name).collect();
        assert_eq!(names.len(), defaults().count());
        for rule in defaults() {
            assert!(Check::parse(rule.text).is_ok(), "{}", rule.name);
            assert!(rule.older.is_none_or(|older| Check::parse(older.text).is_ok()));
        }
    }
}

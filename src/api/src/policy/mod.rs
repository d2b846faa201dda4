//! Who may do what: rules by name, evaluated in one place.

mod check;
mod file;
mod rules;

pub use check::{Check, CheckFault, Target};
pub use file::{PolicyFault, PolicySource};
pub use rules::{DEFAULTS, DefaultRule};

use crate::auth::{Scope, Token};
use std::collections::HashMap;

/// The rules in force.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: HashMap<String, Check>,
}

/// Why a call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The token is of another scope than the rule is for.
    Scope,
    /// The rule does not hold for the caller.
    Rule,
}

impl Policy {
    /// The rules as they are without a policy file. Unless the new defaults
    /// are enforced, what the older default allows is allowed too
    /// (`[oslo_policy] enforce_new_defaults`).
    #[must_use]
    pub fn defaults(enforce_new: bool) -> Self {
        let rules = DEFAULTS.iter().map(|rule| (rule.name.to_owned(), rule.check(enforce_new)));
        Self { rules: rules.collect() }
    }

    /// Puts a rule in the place of the one of that name.
    pub fn replace(&mut self, name: String, check: Check) {
        self.rules.insert(name, check);
    }

    /// Decides whether `token` may do what `rule` guards, on `target`.
    ///
    /// # Errors
    /// With the reason when it may not. A rule that does not exist refuses.
    pub fn enforce(&self, rule: &str, token: &Token, target: Target<'_>) -> Result<(), Denied> {
        // Every rule is for tokens of a project, whatever its check says.
        if token.scope != Scope::Project {
            return Err(Denied::Scope);
        }
        let allowed =
            self.rules.get(rule).is_some_and(|check| check.holds(token, target, &self.rules));
        if allowed { Ok(()) } else { Err(Denied::Rule) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn token(roles: &[&str], scope: Scope) -> Token {
        Token {
            user: "u".to_owned(),
            project: Some("p".to_owned()),
            roles: roles.iter().map(|&role| role.to_owned()).collect(),
            scope,
        }
    }

    #[test]
    fn defaults_of_each_kind() {
        let own = Target { project_id: Some("p") };
        let other = Target { project_id: Some("q") };
        let list = "placement:resource_providers:list";
        let (usages, reshape) = ("placement:usages", "placement:reshaper:reshape");
        for (enforce_new, roles, rule, target, expected) in [
            (true, &["admin"][..], list, own, true),
            (true, &["service"], list, own, true),
            (true, &["member", "reader"], list, own, false),
            (true, &["reader"], usages, own, true),
            (true, &["reader"], usages, other, false),
            (true, &["reader"], usages, Target { project_id: None }, false),
            (true, &["admin"], usages, other, true),
            (true, &["admin"], reshape, own, false),
            (true, &["service"], reshape, own, true),
            (false, &["admin"], reshape, own, true),
            (false, &["reader"], reshape, own, false),
            (true, &["admin"], "placement:no_such_rule", own, false),
        ] {
            let policy = Policy::defaults(enforce_new);
            let got = policy.enforce(rule, &token(roles, Scope::Project), target);
            assert_eq!(got.is_ok(), expected, "{enforce_new} {roles:?} {rule} {target:?}");
        }
    }

    #[test]
    fn another_scope_is_refused_whatever_the_roles() {
        let policy = Policy::defaults(false);
        for scope in [Scope::System, Scope::Domain] {
            let token = token(&["admin", "service"], scope);
            let target = Target { project_id: None };
            assert_eq!(policy.enforce("placement:usages", &token, target), Err(Denied::Scope));
        }
    }
}

//! Who may do what: rules by name, evaluated in one place.

mod check;
mod file;
#[cfg(test)]
mod golden;
mod parse;
mod rules;
mod template;

pub use check::{Check, Target};
pub use file::{PolicyFault, PolicySource};
pub use parse::CheckFault;
pub use rules::{DefaultRule, defaults};

use crate::auth::{Scope, Token};
use check::Rules;
use std::collections::HashMap;

/// A caller to ask which attributes there are.
const NOBODY: Token = Token {
    user: String::new(),
    project: None,
    roles: Vec::new(),
    scope: Scope::Project,
    vouched: None,
};

/// How long a chain of rules that refer to one another may be.
const MAX_CHAIN: usize = 32;

/// The rules in force.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Rules,
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
    /// The defaults with the rules of files in their places. Unless the new
    /// defaults are enforced, what the older default of a rule allows is
    /// allowed too, as long as no file has the rule (`[oslo_policy]
    /// enforce_new_defaults`). The rule named `stand_in`, if there is one,
    /// stands in for those that are referred to and not there.
    ///
    /// # Errors
    /// The name of a rule whose references run in a circle or are too many.
    pub fn new(
        enforce_new: bool,
        stand_in: &str,
        replaced: HashMap<String, Check>,
    ) -> Result<Self, String> {
        let defaults = defaults().filter(|rule| !replaced.contains_key(rule.name));
        let defaults =
            defaults.map(|rule| (rule.name.to_owned(), rule.check(enforce_new, &replaced)));
        let mut by_name: HashMap<String, Check> = defaults.collect();
        by_name.extend(replaced);
        let policy = Self { rules: Rules { by_name, stand_in: stand_in.to_owned() } };
        policy.check_chains()?;
        Ok(policy)
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

    /// What in the rules can hardly be meant: references to rules and
    /// attributes that do not exist, which never hold.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for (name, rule) in &self.rules.by_name {
            rule.visit(&mut |check| match check {
                Check::Rule(other) if self.rules.get(other).is_none() => {
                    doubts.push(format!("{name} refers to a rule that does not exist: {other}"));
                }
                Check::Attribute(attribute, _)
                    if attribute != check::IS_ADMIN.0 && NOBODY.attribute(attribute).is_none() =>
                {
                    doubts.push(format!("{name} asks for what no caller has: {attribute}"));
                }
                _ => {}
            });
        }
        doubts.sort_unstable();
        doubts
    }

    fn check_chains(&self) -> Result<(), String> {
        let mut lengths = HashMap::new();
        let mut names: Vec<&String> = self.rules.by_name.keys().collect();
        names.sort_unstable();
        for name in names {
            if self.chain(name, 0, &mut lengths).is_none() {
                return Err(name.clone());
            }
        }
        Ok(())
    }

    /// The length of the longest chain of references from a rule; nothing if it
    /// does not end in time.
    fn chain<'a>(
        &'a self,
        name: &'a str,
        before: usize,
        lengths: &mut HashMap<&'a str, usize>,
    ) -> Option<usize> {
        if let Some(length) = lengths.get(name) {
            return (before + length <= MAX_CHAIN).then_some(*length);
        }
        if before >= MAX_CHAIN {
            return None;
        }
        let mut next = Vec::new();
        if let Some(rule) = self.rules.get(name) {
            rule.visit(&mut |check| {
                if let Check::Rule(other) = check {
                    next.push(other.as_str());
                }
            });
        }
        let mut length = 0;
        for other in next {
            length = length.max(self.chain(other, before + 1, lengths)?);
        }
        lengths.insert(name, length + 1);
        Some(length + 1)
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
            vouched: None,
        }
    }

    #[test]
    fn defaults_of_each_kind() {
        let own = Target(&[("project_id", Some("p"))]);
        let other = Target(&[("project_id", Some("q"))]);
        let list = "placement:resource_providers:list";
        let (usages, reshape) = ("placement:usages", "placement:reshaper:reshape");
        for (enforce_new, roles, rule, target, expected) in [
            (true, &["admin"][..], list, own, true),
            (true, &["service"], list, own, true),
            (true, &["member", "reader"], list, own, false),
            (true, &["reader"], usages, own, true),
            (true, &["reader"], usages, other, false),
            (true, &["reader"], usages, Target(&[("project_id", None)]), false),
            (true, &["admin"], usages, other, true),
            (true, &["admin"], reshape, own, false),
            (true, &["service"], reshape, own, true),
            (false, &["admin"], reshape, own, true),
            (false, &["reader"], reshape, own, false),
            (true, &["admin"], "placement:no_such_rule", own, false),
        ] {
            let policy = Policy::new(enforce_new, "default", HashMap::new()).unwrap();
            let got = policy.enforce(rule, &token(roles, Scope::Project), target);
            assert_eq!(got.is_ok(), expected, "{enforce_new} {roles:?} {rule} {target:?}");
        }
    }

    #[test]
    fn compute_rules_of_both_kinds() {
        let own = Target(&[("project_id", Some("p"))]);
        let other = Target(&[("project_id", Some("q"))]);
        let nothing = Target(&[]);
        let group = |what| format!("os_compute_api:os-server-groups:{what}");
        let (create, index) = (group("create"), group("index"));
        for (enforce_new, roles, rule, target, expected) in [
            (true, &["admin"][..], "os_compute_api:os-aggregates:index", nothing, true),
            (true, &["service"], "os_compute_api:os-aggregates:index", nothing, false),
            (false, &["member"], "os_compute_api:os-aggregates:index", own, false),
            (true, &["admin"], "os_compute_api:os-hypervisors:list-detail", nothing, true),
            (true, &["admin"], "os_compute_api:os-services:update", nothing, true),
            (true, &["member"], create.as_str(), own, true),
            (true, &["member"], create.as_str(), other, false),
            (true, &["reader"], create.as_str(), own, false),
            (false, &["reader"], create.as_str(), own, true),
            (false, &[], create.as_str(), own, true),
            (false, &["member"], create.as_str(), other, false),
            (true, &["reader"], index.as_str(), own, true),
            (true, &["admin"], index.as_str(), other, true),
            (true, &[], "os_compute_api:os-availability-zone:list", nothing, true),
            (true, &["member"], "os_compute_api:os-availability-zone:detail", nothing, false),
        ] {
            let policy = Policy::new(enforce_new, "default", HashMap::new()).unwrap();
            let got = policy.enforce(rule, &token(roles, Scope::Project), target);
            assert_eq!(got.is_ok(), expected, "{enforce_new} {roles:?} {rule} {target:?}");
        }
    }

    #[test]
    fn who_is_an_admin_is_a_rule() {
        let holds = |rules: &[(&str, &str)], roles: &[&str]| {
            let token = token(roles, Scope::Project);
            with(rules).unwrap().enforce("a", &token, Target(&[])).is_ok()
        };
        let ask = [("a", "is_admin:True")];
        assert!(holds(&ask, &["admin"]) && !holds(&ask, &["boss"]));
        let boss = [("a", "is_admin:True"), ("context_is_admin", "role:boss")];
        assert!(holds(&boss, &["boss"]) && !holds(&boss, &["admin"]));
        let circle = [("a", "is_admin:True"), ("context_is_admin", "is_admin:True")];
        assert!(!holds(&circle, &["admin"]));
        // The rule that Nova had for all calls about hypervisors together.
        let rules = [("os_compute_api:os-hypervisors", "role:boss")];
        let policy = with(&rules).unwrap();
        let boss = token(&["boss"], Scope::Project);
        assert!(policy.enforce("os_compute_api:os-hypervisors:show", &boss, Target(&[])).is_ok());
    }

    #[test]
    fn another_scope_is_refused_whatever_the_roles() {
        let policy = Policy::new(false, "default", HashMap::new()).unwrap();
        for scope in [Scope::System, Scope::Domain] {
            let token = token(&["admin", "service"], scope);
            let target = Target(&[("project_id", None)]);
            assert_eq!(policy.enforce("placement:usages", &token, target), Err(Denied::Scope));
        }
    }

    fn with(rules: &[(&str, &str)]) -> Result<Policy, String> {
        let rules =
            rules.iter().map(|(name, text)| ((*name).to_owned(), Check::parse(text).unwrap()));
        Policy::new(true, "default", rules.collect())
    }

    #[test]
    fn a_circle_is_found_before_it_is_asked() {
        assert_eq!(with(&[("a", "not rule:a")]).unwrap_err(), "a");
        assert!(with(&[("a", "rule:b or @"), ("b", "not rule:c"), ("c", "rule:a")]).is_err());
        assert!(with(&[("a", "rule:b and rule:b"), ("b", "rule:c"), ("c", "@")]).is_ok());
        let long: Vec<(String, String)> =
            (0..=MAX_CHAIN).map(|at| (format!("r{at}"), format!("rule:r{}", at + 1))).collect();
        let long: Vec<(&str, &str)> = long.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert!(with(&long).is_err());
        assert!(with(&long[1..MAX_CHAIN]).is_ok());
    }

    #[test]
    fn a_rule_may_stand_in_for_those_that_are_not_there() {
        let allows = |rules: &[(&str, &str)]| {
            let target = Target(&[]);
            let token = token(&["reader"], Scope::Project);
            with(rules).unwrap().enforce("a", &token, target).is_ok()
        };
        assert!(!allows(&[("a", "rule:b")]));
        assert!(allows(&[("a", "rule:b"), ("default", "role:reader")]));
    }

    #[test]
    fn an_override_of_the_deprecated_rule_is_honoured() {
        let allows = |rules: &[(&str, &str)], enforce_new| {
            let rules =
                rules.iter().map(|(name, text)| ((*name).to_owned(), Check::parse(text).unwrap()));
            let policy = Policy::new(enforce_new, "default", rules.collect()).unwrap();
            let token = token(&["boss"], Scope::Project);
            policy.enforce("placement:traits:list", &token, Target(&[])).is_ok()
        };
        assert!(!allows(&[], false));
        for enforce_new in [true, false] {
            assert!(allows(&[("rule:admin_api", "role:boss")], enforce_new));
        }
        let both = [("rule:admin_api", "role:boss"), ("admin_or_service_api", "role:admin")];
        assert!(!allows(&both, false));
    }

    #[test]
    fn what_can_hardly_be_meant_is_told() {
        let policy = with(&[("a", "is_boss:True or not (rule:b)"), ("c", "@")]).unwrap();
        let doubts =
            ["a asks for what no caller has: is_boss", "a refers to a rule that does not exist: b"];
        assert_eq!(policy.doubts(), doubts);
        assert_eq!(with(&[]).unwrap().doubts(), [""; 0]);
    }
}

//! The rules that exist, with the checks they have unless a file says
//! otherwise. Names and defaults of `placement:*` are the peer's.

use super::check::Check;

const ADMIN_OR_SERVICE: &str = "rule:admin_or_service_api";
const SERVICE: &str = "rule:service_api";
const READER: &str = "rule:admin_or_project_reader_or_service_api";
/// What every rule's older default came down to.
const OLD: &str = "role:admin";

/// A rule with its default.
#[derive(Clone, Copy, Debug)]
pub struct DefaultRule {
    /// Its name.
    pub name: &'static str,
    /// Its check.
    pub text: &'static str,
    /// Whether `role:admin` passes too while older defaults are honoured.
    pub had_older: bool,
}

impl DefaultRule {
    /// The check in force.
    pub(super) fn check(&self, enforce_new: bool) -> Check {
        let new = Check::parse(self.text).unwrap_or(Check::Never);
        if enforce_new || !self.had_older {
            return new;
        }
        let old = Check::parse(OLD).unwrap_or(Check::Never);
        Check::Any(vec![new, old])
    }
}

const fn base(name: &'static str, text: &'static str) -> DefaultRule {
    DefaultRule { name, text, had_older: true }
}

const fn rule(name: &'static str, text: &'static str) -> DefaultRule {
    DefaultRule { name, text, had_older: false }
}

/// Every rule.
pub const DEFAULTS: &[DefaultRule] = &[
    rule("admin_api", "role:admin"),
    base("service_api", "role:service"),
    base("admin_or_service_api", "role:admin or role:service"),
    base("project_reader_api", "role:reader and project_id:%(project_id)s"),
    base(
        "admin_or_project_reader_or_service_api",
        "role:admin or rule:project_reader_api or role:service",
    ),
    rule("placement:resource_providers:list", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:create", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:show", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:update", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:delete", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:inventories:list", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:inventories:create", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:inventories:show", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:inventories:update", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:inventories:delete", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:aggregates:list", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:aggregates:update", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:traits:list", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:traits:update", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:traits:delete", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:usages", ADMIN_OR_SERVICE),
    rule("placement:resource_providers:allocations:list", ADMIN_OR_SERVICE),
    rule("placement:resource_classes:list", ADMIN_OR_SERVICE),
    rule("placement:resource_classes:create", ADMIN_OR_SERVICE),
    rule("placement:resource_classes:show", ADMIN_OR_SERVICE),
    rule("placement:resource_classes:update", ADMIN_OR_SERVICE),
    rule("placement:resource_classes:delete", ADMIN_OR_SERVICE),
    rule("placement:traits:list", ADMIN_OR_SERVICE),
    rule("placement:traits:show", ADMIN_OR_SERVICE),
    rule("placement:traits:update", ADMIN_OR_SERVICE),
    rule("placement:traits:delete", ADMIN_OR_SERVICE),
    rule("placement:allocations:list", ADMIN_OR_SERVICE),
    rule("placement:allocations:update", ADMIN_OR_SERVICE),
    rule("placement:allocations:delete", ADMIN_OR_SERVICE),
    rule("placement:allocations:manage", ADMIN_OR_SERVICE),
    rule("placement:allocation_candidates:list", ADMIN_OR_SERVICE),
    rule("placement:usages", READER),
    rule("placement:reshaper:reshape", SERVICE),
    rule("stowplan:hosts:list", ADMIN_OR_SERVICE),
    rule("stowplan:hosts:show", ADMIN_OR_SERVICE),
    rule("stowplan:hosts:report", ADMIN_OR_SERVICE),
    rule("stowplan:hosts:delete", ADMIN_OR_SERVICE),
    rule("stowplan:hosts:heartbeat", ADMIN_OR_SERVICE),
    rule("stowplan:aggregates:list", ADMIN_OR_SERVICE),
    rule("stowplan:aggregates:show", ADMIN_OR_SERVICE),
    rule("stowplan:aggregates:create", ADMIN_OR_SERVICE),
    rule("stowplan:aggregates:update", ADMIN_OR_SERVICE),
    rule("stowplan:aggregates:delete", ADMIN_OR_SERVICE),
    rule("stowplan:aggregates:add_host", ADMIN_OR_SERVICE),
    rule("stowplan:aggregates:remove_host", ADMIN_OR_SERVICE),
    rule("stowplan:server_groups:list", ADMIN_OR_SERVICE),
    rule("stowplan:server_groups:show", ADMIN_OR_SERVICE),
    rule("stowplan:server_groups:create", ADMIN_OR_SERVICE),
    rule("stowplan:server_groups:delete", ADMIN_OR_SERVICE),
    rule("stowplan:server_groups:remove_member", ADMIN_OR_SERVICE),
    rule("stowplan:select_destinations", ADMIN_OR_SERVICE),
    rule("stowplan:jobs:list", ADMIN_OR_SERVICE),
    rule("stowplan:jobs:show", ADMIN_OR_SERVICE),
    rule("stowplan:jobs:create", ADMIN_OR_SERVICE),
    rule("stowplan:jobs:cancel", ADMIN_OR_SERVICE),
    rule("stowplan:jobs:delete", ADMIN_OR_SERVICE),
    rule("stowplan:tasks:report", ADMIN_OR_SERVICE),
    rule("stowplan:queues:list", ADMIN_OR_SERVICE),
    rule("stowplan:queues:show", ADMIN_OR_SERVICE),
    rule("stowplan:decisions:list", ADMIN_OR_SERVICE),
    rule("stowplan:decisions:show", ADMIN_OR_SERVICE),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_default_can_be_read_and_stands_once() {
        let names: BTreeSet<_> = DEFAULTS.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), DEFAULTS.len());
        for rule in DEFAULTS {
            assert!(Check::parse(rule.text).is_ok(), "{}", rule.name);
        }
    }
}

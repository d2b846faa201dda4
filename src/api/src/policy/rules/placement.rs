//! Rules of the Placement API. Names and checks are the peer's.

use super::{ADMIN_OR_SERVICE, DefaultRule, rule};

const SERVICE: &str = "rule:service_api";
const READER: &str = "rule:admin_or_project_reader_or_service_api";

/// The rules.
pub const RULES: &[DefaultRule] = &[
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
];

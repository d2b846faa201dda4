//! Rules that others refer to. Names and checks are the peer's.

use super::{DefaultRule, Older, rule};

/// What all rules came down to before there were roles of a service and of
/// readers. The name is written so by the peer.
const ADMIN: Older = Older { name: "rule:admin_api", text: "role:admin" };

const fn since_roles(name: &'static str, text: &'static str) -> DefaultRule {
    DefaultRule { name, text, older: Some(ADMIN) }
}

/// The rules.
pub const RULES: &[DefaultRule] = &[
    rule("admin_api", "role:admin"),
    since_roles("service_api", "role:service"),
    since_roles("admin_or_service_api", "role:admin or role:service"),
    since_roles("project_reader_api", "role:reader and project_id:%(project_id)s"),
    since_roles(
        "admin_or_project_reader_or_service_api",
        "role:admin or rule:project_reader_api or role:service",
    ),
];

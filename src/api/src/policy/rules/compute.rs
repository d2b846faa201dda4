//! Rules of the compute surface, `/v2.1`, and those that they refer to. Names and
//! checks are Nova's. Its `is_admin:True` is what the rule `context_is_admin`
//! says, and is written so.

use super::{DefaultRule, Older, rule};

const ADMIN: &str = "rule:context_is_admin";
const MEMBER: &str = "rule:project_member_or_admin";
const READER: &str = "rule:project_reader_or_admin";

/// What calls about a project's own things came down to before there were
/// members and readers. The name is written so by the peer.
const OWNER: Older = Older {
    name: "rule:admin_or_owner",
    text: "rule:context_is_admin or project_id:%(project_id)s",
};
/// The same of calls for administrators.
const OLD_ADMIN: Older = Older { name: "rule:admin_api", text: "role:admin" };
/// One rule for all calls about hypervisors.
const HYPERVISORS: Older = Older { name: "os_compute_api:os-hypervisors", text: ADMIN };
/// One rule for all calls about services.
const SERVICES: Older = Older { name: "os_compute_api:os-services", text: ADMIN };

const fn instead(older: Older, name: &'static str, text: &'static str) -> DefaultRule {
    DefaultRule { name, text, older: Some(older) }
}

/// The rules.
pub const RULES: &[DefaultRule] = &[
    instead(OLD_ADMIN, "context_is_admin", "role:admin"),
    rule("admin_or_owner", "rule:context_is_admin or project_id:%(project_id)s"),
    instead(OWNER, "project_member_api", "role:member and project_id:%(project_id)s"),
    instead(OWNER, "project_member_or_admin", "rule:project_member_api or rule:context_is_admin"),
    instead(OWNER, "project_reader_or_admin", "rule:project_reader_api or rule:context_is_admin"),
    rule("os_compute_api:os-aggregates:index", ADMIN),
    rule("os_compute_api:os-aggregates:create", ADMIN),
    rule("os_compute_api:os-aggregates:show", ADMIN),
    rule("os_compute_api:os-aggregates:update", ADMIN),
    rule("os_compute_api:os-aggregates:delete", ADMIN),
    rule("os_compute_api:os-aggregates:add_host", ADMIN),
    rule("os_compute_api:os-aggregates:remove_host", ADMIN),
    rule("os_compute_api:os-aggregates:set_metadata", ADMIN),
    rule("compute:aggregates:images", ADMIN),
    rule("os_compute_api:os-server-groups:index", READER),
    rule("os_compute_api:os-server-groups:index:all_projects", ADMIN),
    rule("os_compute_api:os-server-groups:create", MEMBER),
    rule("os_compute_api:os-server-groups:show", READER),
    rule("os_compute_api:os-server-groups:delete", MEMBER),
    rule("os_compute_api:os-availability-zone:list", "@"),
    rule("os_compute_api:os-availability-zone:detail", ADMIN),
    instead(HYPERVISORS, "os_compute_api:os-hypervisors:list", ADMIN),
    instead(HYPERVISORS, "os_compute_api:os-hypervisors:list-detail", ADMIN),
    instead(HYPERVISORS, "os_compute_api:os-hypervisors:statistics", ADMIN),
    instead(HYPERVISORS, "os_compute_api:os-hypervisors:show", ADMIN),
    instead(HYPERVISORS, "os_compute_api:os-hypervisors:uptime", ADMIN),
    instead(HYPERVISORS, "os_compute_api:os-hypervisors:search", ADMIN),
    instead(HYPERVISORS, "os_compute_api:os-hypervisors:servers", ADMIN),
    instead(SERVICES, "os_compute_api:os-services:list", ADMIN),
    instead(SERVICES, "os_compute_api:os-services:update", ADMIN),
    instead(SERVICES, "os_compute_api:os-services:delete", ADMIN),
];

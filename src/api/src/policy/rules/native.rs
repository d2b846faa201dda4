//! Rules of our own surface, `/v1`.

use super::{ADMIN_OR_SERVICE, DefaultRule, rule};

/// The rules.
pub const RULES: &[DefaultRule] = &[
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
    rule("stowplan:decisions:confirm", ADMIN_OR_SERVICE),
    rule("stowplan:explain:candidates", ADMIN_OR_SERVICE),
    rule("stowplan:snapshot:show", ADMIN_OR_SERVICE),
    rule("stowplan:shadow:show", ADMIN_OR_SERVICE),
];

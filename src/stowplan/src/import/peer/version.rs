//! Which databases of the peer are understood.

use stowplan_db::peer::Schema;

/// The tables are as [`super::tables`] has them after these migrations. The newest
/// drops indexes that others cover; the one before it brings the consumer types.
pub const SCHEMA: Schema = Schema {
    program: "openstack-placement",
    understood: &["a082b8bb98d0", "422ece571366"],
    tables: &[
        "resource_classes",
        "traits",
        "projects",
        "users",
        "consumer_types",
        "resource_providers",
        "inventories",
        "resource_provider_traits",
        "placement_aggregates",
        "resource_provider_aggregates",
        "consumers",
        "allocations",
    ],
    remedy: "bring it up to date with `placement-manage db sync` (openstack-placement 6.0.0 or \
             newer)",
};

//! Whether a database is the peer's, in a form that is understood.

use super::{Peer, tables::Version};
use stowplan_db::has_table;

/// The peer's migrations after which its tables are as [`super::tables`] has
/// them, newest first. The newest drops indexes that others cover; the one
/// before it brings the consumer types.
const UNDERSTOOD: [&str; 2] = ["a082b8bb98d0", "422ece571366"];

/// Where the peer's migrations are counted.
const VERSIONS: &str = "alembic_version";

/// Where ours are.
const OURS: &str = "seaql_migrations";

/// The tables that a database of the peer has.
const TABLES: [&str; 13] = [
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
    VERSIONS,
];

impl Peer {
    /// Why the database is not understood, if it is not.
    pub async fn objection(&self) -> anyhow::Result<Option<String>> {
        if has_table(&self.snapshot, OURS).await? {
            return Ok(Some("it is a database of stowplan itself".to_owned()));
        }
        let mut missing = Vec::new();
        for table in TABLES {
            if !has_table(&self.snapshot, table).await? {
                missing.push(table);
            }
        }
        if missing.contains(&VERSIONS) {
            return Ok(Some(format!(
                "it has no table {VERSIONS}, so it is none of openstack-placement"
            )));
        }
        let found: Vec<Version> = self.all().await?;
        let found: Vec<&str> = found.iter().map(|row| row.version_num.as_str()).collect();
        if !matches!(found.as_slice(), [one] if UNDERSTOOD.contains(one)) {
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Ok(Some(format!(
                "its schema is at version {found}, understood are {}: bring it up to date with \
                 `placement-manage db sync` (openstack-placement 6.0.0 or newer)",
                UNDERSTOOD.join(" and ")
            )));
        }
        Ok((!missing.is_empty()).then(|| format!("it lacks the tables {}", missing.join(", "))))
    }
}

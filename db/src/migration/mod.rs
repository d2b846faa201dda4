//! The migrations, oldest first. A migration that has been released is never
//! changed: what comes later is a new one. Each may be run again after it was
//! cut off half-way (MariaDB commits every table by itself).

#![expect(
    elided_lifetimes_in_paths,
    reason = "a migration's signature has to be the trait's, word for word"
)]

mod m0001_ledger;
mod m0002_placement;
mod m0003_hosts;
mod m0004_groups;
mod m0005_batch;
mod m0006_decisions;
mod m0007_counters;
mod m0008_bus;
mod m0009_request_keys;
mod m0010_batch_objects;
mod table;

use sea_orm_migration::prelude::*;

/// How many migrations this binary knows, the head's `schema_epoch` after all
/// of them.
pub(crate) const KNOWN_EPOCH: i32 = 10;

/// The migrations this binary knows.
pub(crate) struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_ledger::Migration),
            Box::new(m0002_placement::Migration),
            Box::new(m0003_hosts::Migration),
            Box::new(m0004_groups::Migration),
            Box::new(m0005_batch::Migration),
            Box::new(m0006_decisions::Migration),
            Box::new(m0007_counters::Migration),
            Box::new(m0008_bus::Migration),
            Box::new(m0009_request_keys::Migration),
            Box::new(m0010_batch_objects::Migration),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_epoch_counts_the_migrations() {
        assert_eq!(Migrator::migrations().len(), KNOWN_EPOCH as usize);
    }
}

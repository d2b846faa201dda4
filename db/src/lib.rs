//! Entities, migrations and connections of stowplan's database, alike on
//! SQLite, PostgreSQL and MariaDB.
//!
//! The ledger is written by one task of each process through [`Batch`] or
//! [`Connection::write`]: one transaction moves the head row by compare-and-set
//! and carries the rows of all the mutations in it ([`Script`]): on the servers as
//! text with the values in place, since round trips decide the rate; to a SQLite
//! file as prepared statements.

mod batch;
mod bound;
mod connect;
pub mod entity;
mod head;
mod hold;
mod link;
mod literal;
mod migration;
pub mod peer;
mod schema;
mod script;
mod spec;
#[cfg(feature = "test-support")]
pub mod testing;
mod text;
mod trouble;

pub use batch::{Batch, Written};
pub use connect::{ConnectError, Connection, Writer, connect, connect_read_only};
pub use head::{journal_batch, journal_since, read_head, trim_journal};
pub use hold::{Hold, Taken};
pub use literal::LiteralError;
pub use schema::{SchemaError, Step, Version, has_table, migrate, schema_version};
pub use script::{Script, Statements};
pub use sea_orm;
pub use sea_orm::{DbBackend as Backend, DbErr};
pub use spec::ConnectSpec;
pub use trouble::Trouble;

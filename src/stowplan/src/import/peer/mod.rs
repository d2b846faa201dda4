//! The database of openstack-placement, read whole in one snapshot, without a
//! write.

pub mod tables;
mod version;

use stowplan_db::{
    ConnectError, ConnectSpec,
    peer::{ReadError, Row, Snapshot},
};
use tables::{Allocation, Consumer, Orphan};
use version::SCHEMA;

/// An open database of the peer.
pub struct Peer {
    database: stowplan_db::peer::Peer,
    snapshot: Snapshot,
}

impl Peer {
    /// Opens it: all that is read is of one moment.
    pub async fn open(spec: &ConnectSpec) -> Result<Self, ConnectError> {
        let database = stowplan_db::peer::Peer::open(spec).await?;
        let snapshot = database.snapshot().await.map_err(|error| ConnectError::Refused {
            place: spec.place(),
            cause: error.to_string(),
        })?;
        Ok(Self { database, snapshot })
    }

    /// Why the database is not understood, if it is not.
    pub async fn objection(&self) -> Result<Option<String>, ReadError> {
        self.snapshot.objection(&SCHEMA).await
    }

    /// All rows of a table, for those that do not grow with the workloads.
    pub async fn all<T: Row>(&self) -> Result<Vec<T>, ReadError> {
        self.snapshot.all().await
    }

    /// The consumers after the one with this id, in order of their ids.
    pub async fn consumers(&self, after: i64, limit: u64) -> Result<Vec<Consumer>, ReadError> {
        self.snapshot.select(&format!("WHERE id > {after} ORDER BY id LIMIT {limit}")).await
    }

    /// What the consumers with these ids hold: those above `after` up to `until`.
    pub async fn allocations(&self, after: i64, until: i64) -> Result<Vec<Allocation>, ReadError> {
        let which = format!("WHERE c.id > {after} AND c.id <= {until} ORDER BY c.id, a.id");
        self.snapshot.select(&which).await
    }

    /// Allocations whose consumer does not exist, at most so many.
    pub async fn orphans(&self, limit: usize) -> Result<Vec<Orphan>, ReadError> {
        self.snapshot.select(&format!("WHERE c.id IS NULL ORDER BY a.id LIMIT {limit}")).await
    }

    /// How many rows something has.
    pub async fn count(&self, from: &str) -> Result<u64, ReadError> {
        let counted = self.numbers(["COUNT(*)"], from).await?;
        Ok(counted.first().and_then(|[count]| u64::try_from(*count).ok()).unwrap_or(0))
    }

    /// Rows of numbers; what is asked for must not be null.
    pub async fn numbers<const N: usize>(
        &self,
        expressions: [&str; N],
        from: &str,
    ) -> Result<Vec<[i64; N]>, ReadError> {
        self.snapshot.numbers(expressions, from).await
    }

    /// Ends the reading.
    pub async fn close(self) -> anyhow::Result<()> {
        self.snapshot.end().await?;
        Ok(self.database.close().await?)
    }
}

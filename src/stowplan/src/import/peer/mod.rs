//! The database of openstack-placement, read whole in one snapshot, without a
//! write.

mod cell;
mod dialect;
pub mod tables;
mod version;

use anyhow::Context as _;
use dialect::Dialect;
use stowplan_db::{
    ConnectError, ConnectSpec, Connection, connect_read_only,
    sea_orm::{ConnectionTrait as _, DatabaseTransaction, QueryResult, Statement},
};
use tables::{Allocation, Consumer, Orphan, Row};

/// An open database of the peer.
pub struct Peer {
    connection: Connection,
    snapshot: DatabaseTransaction,
    sql: Dialect,
}

impl Peer {
    /// Opens it: all that is read is of one moment.
    pub async fn open(spec: &ConnectSpec) -> Result<Self, ConnectError> {
        let connection = connect_read_only(spec).await?;
        let snapshot = connection.snapshot().await.map_err(|error| ConnectError::Refused {
            place: spec.place(),
            cause: error.to_string(),
        })?;
        let sql = Dialect(connection.backend());
        Ok(Self { connection, snapshot, sql })
    }

    /// All rows of a table, for those that do not grow with the workloads.
    pub async fn all<T: Row>(&self) -> anyhow::Result<Vec<T>> {
        self.select("").await
    }

    /// The consumers after the one with this id, in order of their ids.
    pub async fn consumers(&self, after: i64, limit: u64) -> anyhow::Result<Vec<Consumer>> {
        self.select(&format!("WHERE id > {after} ORDER BY id LIMIT {limit}")).await
    }

    /// What the consumers with these ids hold: those above `after` up to `until`.
    pub async fn allocations(&self, after: i64, until: i64) -> anyhow::Result<Vec<Allocation>> {
        self.select(&format!("WHERE c.id > {after} AND c.id <= {until} ORDER BY c.id, a.id")).await
    }

    /// Allocations whose consumer does not exist, at most so many.
    pub async fn orphans(&self, limit: usize) -> anyhow::Result<Vec<Orphan>> {
        self.select(&format!("WHERE c.id IS NULL ORDER BY a.id LIMIT {limit}")).await
    }

    /// How many rows something has.
    pub async fn count(&self, from: &str) -> anyhow::Result<u64> {
        let counted: Vec<[i64; 1]> = self.numbers(["COUNT(*)"], from).await?;
        Ok(counted.first().and_then(|[count]| u64::try_from(*count).ok()).unwrap_or(0))
    }

    /// Rows of numbers; what is asked for must not be null.
    pub async fn numbers<const N: usize>(
        &self,
        expressions: [&str; N],
        from: &str,
    ) -> anyhow::Result<Vec<[i64; N]>> {
        let columns = expressions.map(|expression| self.sql.number(expression)).join(", ");
        let rows = self.query(format!("SELECT {columns} FROM {from}")).await?;
        let read = |row: &QueryResult| {
            let mut numbers = [0; N];
            for (place, number) in numbers.iter_mut().enumerate() {
                *number = row.try_get_by_index(place)?;
            }
            Ok(numbers)
        };
        rows.iter().map(read).collect()
    }

    /// Ends the reading.
    pub async fn close(self) -> anyhow::Result<()> {
        self.snapshot.rollback().await?;
        Ok(self.connection.close().await?)
    }

    async fn select<T: Row>(&self, rest: &str) -> anyhow::Result<Vec<T>> {
        let columns = T::columns(self.sql).join(", ");
        let rows = self.query(format!("SELECT {columns} FROM {} {rest}", T::FROM)).await?;
        let read = |row: &QueryResult| T::read(row).with_context(|| format!("reading {}", T::FROM));
        rows.iter().map(read).collect()
    }

    async fn query(&self, sql: String) -> anyhow::Result<Vec<QueryResult>> {
        let statement = Statement::from_string(self.connection.backend(), sql);
        Ok(self.snapshot.query_all_raw(statement).await?)
    }
}

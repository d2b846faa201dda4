//! The databases of other programs, which are read and never written: an
//! openstack-placement's whole, Nova's again and again.

mod cell;
mod dialect;
mod row;

pub use cell::Cell;
pub use dialect::Dialect;
pub use row::Row;

use crate::connect::{ConnectError, Connection, connect_read_only};
use crate::schema::has_table;
use crate::spec::ConnectSpec;
use sea_orm::{ConnectionTrait as _, DatabaseTransaction, DbErr, QueryResult, Statement};

/// Where Alembic counts the migrations of a database.
const VERSIONS: &str = "alembic_version";
/// Where ours are counted.
const OURS: &str = "seaql_migrations";

/// Why rows of another program's database could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The database does not answer, or not as it should.
    #[error(transparent)]
    Database(#[from] DbErr),
    /// A row is not of the form that its table has.
    #[error("reading {from}: {cause}")]
    Row {
        /// What stands after FROM.
        from: &'static str,
        /// What is wrong with it.
        cause: DbErr,
    },
}

/// A database of another program, open for reading.
#[derive(Debug)]
pub struct Peer {
    connection: Connection,
}

/// What is in such a database at one moment.
#[derive(Debug)]
pub struct Snapshot {
    transaction: DatabaseTransaction,
    sql: Dialect,
}

/// The schema that a program's database must have to be understood.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Whose it is, such as `openstack-placement`.
    pub program: &'static str,
    /// Migrations after which its tables have the form that is read here, newest
    /// first.
    pub understood: &'static [&'static str],
    /// Tables that are read.
    pub tables: &'static [&'static str],
    /// How it is brought there.
    pub remedy: &'static str,
}

impl Peer {
    /// Opens it. Nothing of it is changed, a SQLite file has to be there.
    ///
    /// # Errors
    /// As [`connect_read_only`].
    pub async fn open(spec: &ConnectSpec) -> Result<Self, ConnectError> {
        Ok(Self { connection: connect_read_only(spec).await? })
    }

    /// All that is read from it is of the moment of the first reading.
    ///
    /// # Errors
    /// When no connection is to be had.
    pub async fn snapshot(&self) -> Result<Snapshot, DbErr> {
        let transaction = self.connection.snapshot().await?;
        Ok(Snapshot { transaction, sql: Dialect(self.connection.backend()) })
    }

    /// Closes it.
    ///
    /// # Errors
    /// When a connection does not close in good order.
    pub async fn close(self) -> Result<(), DbErr> {
        self.connection.close().await
    }
}

impl Snapshot {
    /// The SQL of this database.
    #[must_use]
    pub fn sql(&self) -> Dialect {
        self.sql
    }

    /// All rows of a table.
    ///
    /// # Errors
    /// A database that does not answer, or a row of another form.
    pub async fn all<T: Row>(&self) -> Result<Vec<T>, ReadError> {
        self.select("").await
    }

    /// The rows of a table for which what stands after it says, such as `WHERE`
    /// and `ORDER BY`.
    ///
    /// # Errors
    /// As [`Snapshot::all`].
    pub async fn select<T: Row>(&self, rest: &str) -> Result<Vec<T>, ReadError> {
        let columns = T::columns(self.sql).join(", ");
        let rows = self.query(format!("SELECT {columns} FROM {} {rest}", T::FROM)).await?;
        let read = |row: &QueryResult| {
            T::read(row).map_err(|cause| ReadError::Row { from: T::FROM, cause })
        };
        rows.iter().map(read).collect()
    }

    /// Rows of numbers; what is asked for must not be null.
    ///
    /// # Errors
    /// As [`Snapshot::all`].
    pub async fn numbers<const N: usize>(
        &self,
        expressions: [&str; N],
        from: &str,
    ) -> Result<Vec<[i64; N]>, ReadError> {
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

    /// Why the database is not understood, if it is not.
    ///
    /// # Errors
    /// As [`Snapshot::all`].
    pub async fn objection(&self, schema: &Schema) -> Result<Option<String>, ReadError> {
        if has_table(&self.transaction, OURS).await? {
            return Ok(Some("it is a database of stowplan itself".to_owned()));
        }
        if !has_table(&self.transaction, VERSIONS).await? {
            let program = schema.program;
            return Ok(Some(format!("it has no table {VERSIONS}, so it is none of {program}")));
        }
        let rows = self.query(format!("SELECT version_num FROM {VERSIONS}")).await?;
        let found: Result<Vec<String>, DbErr> =
            rows.iter().map(|row| row.try_get_by_index(0)).collect();
        let found = found?;
        if !matches!(found.as_slice(), [one] if schema.understood.contains(&one.as_str())) {
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Ok(Some(format!(
                "its schema is at version {found}, understood are {}: {}",
                schema.understood.join(" and "),
                schema.remedy
            )));
        }
        let mut missing = Vec::new();
        for table in schema.tables {
            if !has_table(&self.transaction, table).await? {
                missing.push(*table);
            }
        }
        Ok((!missing.is_empty()).then(|| format!("it lacks the tables {}", missing.join(", "))))
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end(self) -> Result<(), DbErr> {
        self.transaction.rollback().await
    }

    async fn query(&self, sql: String) -> Result<Vec<QueryResult>, DbErr> {
        let statement = Statement::from_string(self.sql.0, sql);
        self.transaction.query_all_raw(statement).await
    }
}

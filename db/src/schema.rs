//! Bringing the database's schema up to date, and saying which it is.

use crate::connect::Connection;
use crate::entity::head;
use crate::head::HEAD_ID;
use crate::migration::{KNOWN_EPOCH, Migrator};
use crate::trouble::Trouble;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, EntityTrait, QueryFilter,
    QueryOrder, Statement, TransactionTrait,
};
use sea_orm_migration::{MigratorTrait, SchemaManager, seaql_migrations};

/// A table that other programs' migrations leave behind.
const FOREIGN_TABLE: &str = "alembic_version";

/// Seconds another process's migration is waited for on MariaDB; PostgreSQL
/// goes by the connection's lock timeout.
const LOCK_SECONDS: u32 = 5;

/// PostgreSQL's advisory lock for migrations: "stowplan" in ASCII.
const LOCK_KEY: i64 = 0x7374_6f77_706c_616e;

/// Why the schema cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The database has had migrations that this binary does not know.
    #[error("the database was migrated by a newer program ({}): use that one", .unknown.join(", "))]
    Newer {
        /// The names of the unknown migrations.
        unknown: Vec<String>,
    },
    /// The database belongs to another program.
    #[error("the database holds another program's tables ({table}): give stowplan its own")]
    Foreign {
        /// The table that tells.
        table: String,
    },
    /// Another process is migrating the database.
    #[error("another process is migrating the database")]
    Busy,
    /// The database gave an error.
    #[error(transparent)]
    Database(#[from] DbErr),
}

/// Which migrations a database has had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Those it has had, by name, oldest first.
    pub applied: Vec<String>,
    /// Those this binary knows, oldest first.
    pub known: Vec<String>,
    /// Those it still needs, oldest first.
    pub pending: Vec<String>,
}

impl Version {
    fn new(applied: Vec<String>) -> Self {
        let migrations = Migrator::migrations();
        let known: Vec<String> = migrations.iter().map(|m| m.name().to_owned()).collect();
        let pending = known.iter().filter(|name| !applied.contains(name));
        Self { pending: pending.cloned().collect(), applied, known }
    }

    /// Whether the database has had just what this binary knows.
    pub fn is_current(&self) -> bool {
        self.applied == self.known
    }

    /// The migrations the database has had that this binary does not know.
    pub fn unknown(&self) -> Vec<String> {
        let unknown = self.applied.iter().filter(|name| !self.known.contains(name));
        unknown.cloned().collect()
    }
}

/// A migration that is about to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Its number among those to be run, from 1.
    pub number: usize,
    /// How many are to be run.
    pub total: usize,
    /// Its name.
    pub name: &'a str,
}

/// Which migrations the database has had. Writes nothing.
///
/// # Errors
/// When the database has had some that this binary does not know, belongs to
/// another program, or does not answer.
pub async fn schema_version(connection: &Connection) -> Result<Version, SchemaError> {
    let db = connection.reader();
    let manager = SchemaManager::new(db);
    let mut applied = Vec::new();
    if manager.has_table("seaql_migrations").await? {
        let rows = seaql_migrations::Entity::find()
            .order_by_asc(seaql_migrations::Column::Version)
            .all(db)
            .await?;
        applied.extend(rows.into_iter().map(|row| row.version));
    }
    let version = Version::new(applied);
    let unknown = version.unknown();
    if !unknown.is_empty() {
        return Err(SchemaError::Newer { unknown });
    }
    if version.applied.is_empty() && manager.has_table(FOREIGN_TABLE).await? {
        return Err(SchemaError::Foreign { table: FOREIGN_TABLE.to_owned() });
    }
    Ok(version)
}

/// Whether there is a table of this name, in the eyes of a transaction.
///
/// # Errors
/// When the database does not answer.
pub async fn has_table(db: &DatabaseTransaction, name: &str) -> Result<bool, DbErr> {
    SchemaManager::new(db).has_table(name).await
}

/// Runs the migrations the database still needs, telling `progress` before
/// each. On the servers one process does so at a time.
///
/// # Errors
/// As [`schema_version`], when another process is migrating, or when a
/// migration fails. One that was cut off may be run again.
pub async fn migrate(
    connection: &Connection,
    mut progress: impl FnMut(Step<'_>) + Send,
) -> Result<Version, SchemaError> {
    if schema_version(connection).await?.is_current() {
        return mark_epoch(connection).await;
    }
    let lock = Lock::take(connection).await?;
    let outcome = run_pending(connection, &mut progress).await;
    lock.release().await?;
    outcome
}

async fn run_pending(
    connection: &Connection,
    progress: &mut (impl FnMut(Step<'_>) + Send),
) -> Result<Version, SchemaError> {
    let pending = schema_version(connection).await?.pending;
    for (index, name) in pending.iter().enumerate() {
        progress(Step { number: index + 1, total: pending.len(), name });
        Migrator::up(&*connection.writer().await, Some(1)).await?;
    }
    mark_epoch(connection).await
}

/// Tells the writers of older binaries that the schema is no longer theirs.
async fn mark_epoch(connection: &Connection) -> Result<Version, SchemaError> {
    head::Entity::update_many()
        .col_expr(head::Column::SchemaEpoch, Expr::val(KNOWN_EPOCH))
        .filter(head::Column::Id.eq(HEAD_ID))
        .filter(head::Column::SchemaEpoch.ne(KNOWN_EPOCH))
        .exec(&*connection.writer().await)
        .await?;
    schema_version(connection).await
}

/// The right to migrate, held by a connection of its own.
enum Lock {
    /// SQLite: its own locks and migrations that may be run again are enough.
    None,
    /// Ends with the transaction.
    Postgres(DatabaseTransaction),
    /// Outlives the transaction.
    MariaDb(DatabaseTransaction),
}

impl Lock {
    async fn take(connection: &Connection) -> Result<Self, SchemaError> {
        match connection.backend() {
            DbBackend::Postgres => {
                let open = connection.writer().await.begin().await?;
                let sql = format!("SELECT pg_advisory_xact_lock({LOCK_KEY})");
                let taken = open.execute_unprepared(&sql).await;
                match taken {
                    Ok(_) => Ok(Self::Postgres(open)),
                    Err(error) if Trouble::classify(&error) == Trouble::Retry => {
                        Err(SchemaError::Busy)
                    }
                    Err(error) => Err(error.into()),
                }
            }
            DbBackend::MySql => {
                let open = connection.writer().await.begin().await?;
                let sql = format!("SELECT GET_LOCK({LOCK_NAME}, {LOCK_SECONDS}) = 1");
                let sql = Statement::from_string(DbBackend::MySql, sql);
                let row = open.query_one_raw(sql).await?;
                let taken = match row {
                    Some(row) => row.try_get_by_index::<Option<i64>>(0)?,
                    None => None,
                };
                if taken == Some(1) { Ok(Self::MariaDb(open)) } else { Err(SchemaError::Busy) }
            }
            _ => Ok(Self::None),
        }
    }

    async fn release(self) -> Result<(), DbErr> {
        match self {
            Self::None => Ok(()),
            Self::Postgres(open) => open.rollback().await,
            Self::MariaDb(open) => {
                let sql = format!("DO RELEASE_LOCK({LOCK_NAME})");
                open.execute_unprepared(&sql).await?;
                open.rollback().await
            }
        }
    }
}

/// MariaDB's lock for migrations: locks are the whole server's, so the
/// database's name is in it.
const LOCK_NAME: &str = "CONCAT('stowplan ', LEFT(DATABASE(), 50))";

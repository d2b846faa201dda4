//! What a database error means for the one who met it.

use sea_orm::sqlx::{self, mysql::MySqlDatabaseError, postgres::PgDatabaseError};
use sea_orm::{ConnAcquireErr, DbErr, RuntimeErr};

/// What to do about a database error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Busy, a deadlock, a lock or a connection not had in time: roll back,
    /// nothing was kept, the whole may be tried again.
    Retry,
    /// The connection is gone. Of a commit under way the outcome is unknown.
    Lost,
    /// No room is left: nothing can be written until an operator makes some.
    Full,
    /// The database takes no writes, such as a replica.
    ReadOnly,
    /// A row breaks a rule of its table: a key that is taken, a value that is
    /// missing, too long or out of range.
    Constraint,
    /// Anything else, such as a statement that is wrong.
    Other,
}

impl Trouble {
    /// What the error means.
    pub fn classify(error: &DbErr) -> Self {
        match runtime_error(error) {
            Some(error) => classify_sqlx(error),
            None => match error {
                DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => Self::Retry,
                DbErr::ConnectionAcquire(_) => Self::Lost,
                _ => Self::Other,
            },
        }
    }
}

fn runtime_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => Some(error),
        _ => None,
    }
}

fn classify_sqlx(error: &sqlx::Error) -> Trouble {
    match error {
        sqlx::Error::Database(error) => Code::of(&**error).trouble(),
        sqlx::Error::PoolTimedOut => Trouble::Retry,
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => Trouble::Lost,
        _ => Trouble::Other,
    }
}

/// The code a database gives with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code<'a> {
    /// A SQLite result code without its variety (the low byte).
    Sqlite(u32),
    /// A PostgreSQL SQLSTATE.
    Postgres(&'a str),
    /// A MariaDB error number: its SQLSTATE says one thing for many.
    MariaDb(u16),
}

impl<'a> Code<'a> {
    /// Whether the database gave exactly this code with the error.
    pub(crate) fn is(error: &DbErr, expected: Self) -> bool {
        match runtime_error(error) {
            Some(sqlx::Error::Database(error)) => Code::of(&**error) == expected,
            _ => false,
        }
    }

    fn of(error: &'a dyn sqlx::error::DatabaseError) -> Self {
        if let Some(error) = error.try_downcast_ref::<MySqlDatabaseError>() {
            Self::MariaDb(error.number())
        } else if let Some(error) = error.try_downcast_ref::<PgDatabaseError>() {
            Self::Postgres(error.code())
        } else {
            let code = error.code().and_then(|code| code.parse::<u32>().ok());
            Self::Sqlite(code.unwrap_or_default() & 0xff)
        }
    }

    fn trouble(self) -> Trouble {
        let row = match self {
            Self::Sqlite(code) => SQLITE.iter().find(|row| row.0 == code).map(|row| row.1),
            Self::MariaDb(code) => MARIADB.iter().find(|row| row.0 == code).map(|row| row.1),
            Self::Postgres(code) => {
                POSTGRES.iter().find(|row| code.starts_with(row.0)).map(|row| row.1)
            }
        };
        row.unwrap_or(Trouble::Other)
    }
}

/// SQLite's result codes.
const SQLITE: &[(u32, Trouble)] = &[
    (5, Trouble::Retry),       // busy, a snapshot too old to write on
    (6, Trouble::Retry),       // locked
    (8, Trouble::ReadOnly),    // read-only
    (10, Trouble::Lost),       // input or output: a commit may have come through
    (13, Trouble::Full),       // disk full
    (19, Trouble::Constraint), // unique, primary key, not null, check
];

/// PostgreSQL's SQLSTATEs, by what they begin with.
const POSTGRES: &[(&str, Trouble)] = &[
    ("08", Trouble::Lost),          // connection
    ("22001", Trouble::Constraint), // text too long
    ("22003", Trouble::Constraint), // number out of range
    ("23", Trouble::Constraint),    // unique, not null, check
    ("25006", Trouble::ReadOnly),   // read-only transaction, such as on a standby
    ("25P02", Trouble::Retry),      // a statement failed before
    ("40001", Trouble::Retry),      // serialisation
    ("40003", Trouble::Lost),       // completion unknown
    ("40P01", Trouble::Retry),      // deadlock
    ("53100", Trouble::Full),       // disk full
    ("53200", Trouble::Retry),      // out of memory
    ("53300", Trouble::Retry),      // too many connections
    ("55P03", Trouble::Retry),      // lock not had in time
    ("57014", Trouble::Retry),      // statement cancelled
    ("57P", Trouble::Lost),         // the server shuts down, crashed, starts up
];

/// MariaDB's error numbers.
const MARIADB: &[(u16, Trouble)] = &[
    (1020, Trouble::Retry),      // the row changed since it was read
    (1021, Trouble::Full),       // disk full
    (1040, Trouble::Retry),      // too many connections
    (1047, Trouble::Retry),      // a Galera node that is not ready
    (1048, Trouble::Constraint), // null
    (1053, Trouble::Lost),       // the server shuts down
    (1062, Trouble::Constraint), // unique
    (1114, Trouble::Full),       // table full
    (1152, Trouble::Lost),       // connection aborted
    (1158, Trouble::Lost),       // network read
    (1159, Trouble::Lost),       // network read, time out
    (1160, Trouble::Lost),       // network write
    (1161, Trouble::Lost),       // network write, time out
    (1203, Trouble::Retry),      // too many connections of this user
    (1205, Trouble::Retry),      // lock not had in time
    (1213, Trouble::Retry),      // deadlock, Galera's certification
    (1226, Trouble::Retry),      // this user's limit
    (1264, Trouble::Constraint), // number out of range
    (1290, Trouble::ReadOnly),   // the server runs read-only
    (1317, Trouble::Retry),      // statement killed
    (1364, Trouble::Constraint), // value missing
    (1406, Trouble::Constraint), // text too long
    (1792, Trouble::ReadOnly),   // read-only transaction
    (1836, Trouble::ReadOnly),   // read-only mode
    (1927, Trouble::Lost),       // connection killed
    (1969, Trouble::Retry),      // statement took too long
    (4025, Trouble::Constraint), // check
    (4031, Trouble::Lost),       // closed after idling
];

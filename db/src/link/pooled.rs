//! A connection of a pool, kept between batches: to take one and give it back
//! costs round trips.

use crate::trouble::Trouble;
use sea_orm::sqlx::{
    self, AssertSqlSafe, Executor as _, MySql, Pool, Postgres, Sqlite, pool::PoolConnection,
};
use sea_orm::{ConnAcquireErr, DatabaseConnection, DbErr, RuntimeErr};
use std::time::{Duration, Instant};

/// The pool that the connection comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Sqlite(Pool<Sqlite>),
    Postgres(Pool<Postgres>),
    MariaDb(Pool<MySql>),
}

impl Source {
    /// The same pool for all other work.
    pub fn pool(&self) -> DatabaseConnection {
        match self {
            Self::Sqlite(pool) => pool.clone().into(),
            Self::Postgres(pool) => pool.clone().into(),
            Self::MariaDb(pool) => pool.clone().into(),
        }
    }

    async fn take(&self) -> Result<Wire, DbErr> {
        let taken = match self {
            Self::Sqlite(pool) => pool.acquire().await.map(Wire::Sqlite),
            Self::Postgres(pool) => pool.acquire().await.map(Wire::Postgres),
            Self::MariaDb(pool) => pool.acquire().await.map(Wire::MariaDb),
        };
        taken.map_err(|error| match error {
            sqlx::Error::PoolTimedOut => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout),
            sqlx::Error::PoolClosed => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed),
            error => DbErr::Conn(RuntimeErr::SqlxError(error.into())),
        })
    }
}

/// A connection taken from its pool; it goes back when it is dropped.
#[derive(Debug)]
enum Wire {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
    MariaDb(PoolConnection<MySql>),
}

impl Wire {
    async fn execute(&mut self, text: String) -> Result<(), DbErr> {
        let text = AssertSqlSafe(text);
        let done = match self {
            Self::Sqlite(connection) => connection.execute(text).await.map(drop),
            Self::Postgres(connection) => connection.execute(text).await.map(drop),
            Self::MariaDb(connection) => connection.execute(text).await.map(drop),
        };
        done.map_err(|error| DbErr::Exec(RuntimeErr::SqlxError(error.into())))
    }
}

/// The writer's connection and where the next one comes from.
#[derive(Debug)]
pub(crate) struct Pooled {
    source: Source,
    wire: Option<(Wire, Instant)>,
    /// Whether it is kept between batches: a database in memory has one
    /// connection for everything.
    keeps: bool,
    /// How long one connection is kept at most; none: for ever.
    recycle_time: Option<Duration>,
}

impl Pooled {
    pub fn new(source: Source, keeps: bool, recycle_time: Option<Duration>) -> Self {
        Self { source, wire: None, keeps, recycle_time }
    }

    /// Runs texts of several statements one after the other, up to the first
    /// statement that fails. Then whatever transaction was begun is ended, or
    /// the connection is given up.
    pub async fn execute(&mut self, texts: Vec<String>) -> Result<(), DbErr> {
        let wire = self.wire().await?;
        let mut outcome = Ok(());
        for text in texts {
            outcome = wire.execute(text).await;
            if outcome.is_err() {
                break;
            }
        }
        if let Err(error) = &outcome {
            let is_lost = Trouble::classify(error) == Trouble::Lost;
            let may_live = matches!(wire, Wire::Sqlite(_)) || !is_lost;
            let ended = may_live && wire.execute("ROLLBACK".to_owned()).await.is_ok();
            // SQLite complains when the failure has ended the transaction.
            if !ended && !matches!(wire, Wire::Sqlite(_)) {
                self.close();
            }
        }
        self.give_back_unless_kept();
        outcome
    }

    /// Gives the connection back to its pool, for others.
    pub fn give_back(&mut self) {
        self.wire = None;
    }

    fn give_back_unless_kept(&mut self) {
        if !self.keeps {
            self.give_back();
        }
    }

    async fn wire(&mut self) -> Result<&mut Wire, DbErr> {
        let is_old = |since: &Instant| self.recycle_time.is_some_and(|time| since.elapsed() > time);
        if self.wire.as_ref().is_some_and(|(_, since)| is_old(since)) {
            self.give_back();
        }
        let taken = match self.wire.take() {
            Some(kept) => kept,
            None => (self.source.take().await?, Instant::now()),
        };
        Ok(&mut self.wire.insert(taken).0)
    }

    /// Gives the connection up rather than back.
    fn close(&mut self) {
        match self.wire.take() {
            Some((Wire::Sqlite(mut connection), _)) => connection.close_on_drop(),
            Some((Wire::Postgres(mut connection), _)) => connection.close_on_drop(),
            Some((Wire::MariaDb(mut connection), _)) => connection.close_on_drop(),
            None => {}
        }
    }
}

/// What is still kept at the end is not given back: that takes a runtime, which
/// may have ended before.
impl Drop for Pooled {
    fn drop(&mut self) {
        match self.wire.take() {
            Some((Wire::Sqlite(connection), _)) => drop(connection.detach()),
            Some((Wire::Postgres(connection), _)) => drop(connection.detach()),
            Some((Wire::MariaDb(connection), _)) => drop(connection.detach()),
            None => {}
        }
    }
}

//! The lock on a server's database that one process holds while it runs. It hangs
//! on a connection of its own, so it ends with the process, however that ends.

use crate::connect::Connection;
use crate::link::Source;
use sea_orm::sqlx::{
    self, Connection as _, Executor as _, MySqlConnection, PgConnection, Row as _,
};
use sea_orm::{DbErr, RuntimeErr};

/// PostgreSQL: two numbers, the first "stow" in ASCII. Such locks are a
/// database's own.
const POSTGRES_KEY: (i32, i32) = (0x7374_6f77, 1);
/// MariaDB: locks are the whole server's, so the database's name is in it, at a
/// length that all names have.
const MARIADB_NAME: &str = "CONCAT('stowplan ', SHA1(DATABASE()))";
/// PostgreSQL: a machine that fell silent is given up after half a minute.
const POSTGRES_SESSION: &str = "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; \
                                SET tcp_keepalives_count = 3";
/// MariaDB: likewise; who holds the lock asks more often than that. (An import does
/// not, and holds the ledger's head besides.)
const MARIADB_SESSION: &str = "SET SESSION wait_timeout = 30";

/// A held lock; dropped, it is let go.
#[derive(Debug)]
pub struct Hold(Session);

#[derive(Debug)]
enum Session {
    Postgres(PgConnection),
    MariaDb(MySqlConnection),
}

/// What came of a try to take the lock.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Ours(Hold),
    /// Somebody has it already: which session of the server.
    Theirs(String),
}

impl Connection {
    /// Tries to take the lock on the whole database, by a new connection; none
    /// on SQLite, which has no such lock.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn hold(&self) -> Result<Option<Taken>, DbErr> {
        let taken = match self.server() {
            None | Some(Source::Sqlite(_)) => return Ok(None),
            Some(Source::Postgres(pool)) => {
                postgres(PgConnection::connect_with(&pool.connect_options()).await).await
            }
            Some(Source::MariaDb(pool)) => {
                mariadb(MySqlConnection::connect_with(&pool.connect_options()).await).await
            }
        };
        taken.map(Some).map_err(error)
    }
}

impl Hold {
    /// Asks the server whether the lock is still ours; whoever never asks may
    /// lose it.
    ///
    /// # Errors
    /// When the server does not answer, and the lock is lost.
    pub async fn is_held(&mut self) -> Result<bool, DbErr> {
        let is_held = match &mut self.0 {
            // It lasts as long as its session.
            Session::Postgres(session) => session.ping().await.map(|()| true),
            Session::MariaDb(session) => {
                let ask =
                    format!("SELECT COALESCE(IS_USED_LOCK({MARIADB_NAME}), 0) = CONNECTION_ID()");
                sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(ask))
                    .fetch_one(session)
                    .await
                    .map(|is_ours| is_ours == 1)
            }
        };
        is_held.map_err(error)
    }

    /// Lets it go, and waits until the server knows.
    pub async fn release(self) {
        // A session that does not take its leave ends with its connection.
        let _ = match self.0 {
            Session::Postgres(session) => session.close().await,
            Session::MariaDb(session) => session.close().await,
        };
    }
}

async fn postgres(session: sqlx::Result<PgConnection>) -> sqlx::Result<Taken> {
    let mut session = session?;
    session.execute(POSTGRES_SESSION).await?;
    let (class, object) = POSTGRES_KEY;
    let take = format!("SELECT pg_try_advisory_lock({class}, {object})");
    let is_ours = session.fetch_one(sqlx::AssertSqlSafe(take)).await?.try_get(0)?;
    if is_ours {
        return Ok(Taken::Ours(Hold(Session::Postgres(session))));
    }
    let who = format!(
        "SELECT 'session ' || pid || COALESCE(' from ' || host(client_addr), '') \
         FROM pg_locks JOIN pg_stat_activity USING (pid) \
         WHERE locktype = 'advisory' AND granted AND objsubid = 2 \
         AND classid::bigint = {class} AND objid::bigint = {object} \
         AND datname = current_database()"
    );
    let who = session.fetch_optional(sqlx::AssertSqlSafe(who)).await?;
    let who = who.map(|row| row.try_get(0)).transpose()?;
    Ok(Taken::Theirs(who.unwrap_or_else(|| "a session that is ending".to_owned())))
}

async fn mariadb(session: sqlx::Result<MySqlConnection>) -> sqlx::Result<Taken> {
    let mut session = session?;
    session.execute(MARIADB_SESSION).await?;
    let take = format!("SELECT COALESCE(GET_LOCK({MARIADB_NAME}, 0), 0)");
    let is_ours: i64 = session.fetch_one(sqlx::AssertSqlSafe(take)).await?.try_get(0)?;
    if is_ours == 1 {
        return Ok(Taken::Ours(Hold(Session::MariaDb(session))));
    }
    let who = format!("SELECT CAST(IS_USED_LOCK({MARIADB_NAME}) AS SIGNED)");
    let who: Option<i64> = session.fetch_one(sqlx::AssertSqlSafe(who)).await?.try_get(0)?;
    Ok(Taken::Theirs(match who {
        Some(id) => format!("session {id}"),
        None => "a session that is ending".to_owned(),
    }))
}

fn error(error: sqlx::Error) -> DbErr {
    DbErr::Conn(RuntimeErr::SqlxError(error.into()))
}

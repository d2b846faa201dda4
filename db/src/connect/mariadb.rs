//! MariaDB: the session's settings.

use super::{
    ConnectError, STATEMENT_CACHE, address_error, pool_options, probe, server_connections,
};
use crate::spec::ConnectSpec;
use sea_orm::sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlPool};
use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, MySql};

/// A pool of connections at READ COMMITTED, in a known SQL mode (strict, with
/// backslash escapes), that wait for a lock no longer than the spec allows.
pub(super) async fn pool(spec: &ConnectSpec) -> Result<MySqlPool, ConnectError> {
    let options: MySqlConnectOptions =
        spec.url.parse().map_err(|cause| address_error(spec, &cause))?;
    let options = options.statement_cache_capacity(STATEMENT_CACHE).disable_statement_logging();
    probe::<MySqlConnection>(spec, &options, spec.acquire_timeout).await?;
    let settings = session(spec.lock_timeout.as_secs());
    let pool = pool_options::<MySql>(spec).max_connections(server_connections(spec)).after_connect(
        move |connection, _| {
            let settings = settings.clone();
            Box::pin(async move {
                connection.execute(AssertSqlSafe(settings)).await?;
                Ok(())
            })
        },
    );
    Ok(pool.connect_lazy_with(options))
}

/// On a Galera cluster a read waits until the node has what the others have
/// committed; a server without Galera knows the variable and ignores it, and
/// one that is not MariaDB does not see it.
fn session(lock_timeout_s: u64) -> String {
    format!(
        "SET SESSION /*M!100400 wsrep_sync_wait = 1, SESSION */ \
         sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', \
         SESSION innodb_lock_wait_timeout = {}; \
         SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        lock_timeout_s.max(1)
    )
}

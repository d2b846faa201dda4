//! MariaDB: the session's settings.

use super::{ConnectError, STATEMENT_CACHE, address_error, probe, refused, server_options};
use crate::spec::ConnectSpec;
use sea_orm::sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlPool};
use sea_orm::sqlx::{
    self, AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, MySql,
};

/// A pool of connections at READ COMMITTED, in a known SQL mode (strict, with
/// backslash escapes), that wait for a lock no longer than the spec allows; and
/// the most bytes that the server takes in one text.
pub(super) async fn pool(spec: &ConnectSpec) -> Result<(MySqlPool, usize), ConnectError> {
    let options: MySqlConnectOptions =
        spec.url.parse().map_err(|cause| address_error(spec, &cause))?;
    let options = options.statement_cache_capacity(STATEMENT_CACHE).disable_statement_logging();
    let mut probe = probe::<MySqlConnection>(spec, &options, spec.acquire_timeout).await?;
    let most_bytes: u64 = sqlx::query_scalar("SELECT @@max_allowed_packet")
        .fetch_one(&mut probe)
        .await
        .map_err(|cause| refused(spec, cause))?;
    // It answered; how it takes its leave does not matter.
    let _ = probe.close().await;
    let settings = session(spec.lock_timeout.as_secs());
    let pool = server_options::<MySql>(spec).after_connect(move |connection, _| {
        let settings = settings.clone();
        Box::pin(async move {
            connection.execute(AssertSqlSafe(settings)).await?;
            Ok(())
        })
    });
    let most_bytes = usize::try_from(most_bytes).unwrap_or(usize::MAX);
    Ok((pool.connect_lazy_with(options), most_bytes))
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

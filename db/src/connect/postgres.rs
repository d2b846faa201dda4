//! PostgreSQL: the session's settings.

use super::{ConnectError, STATEMENT_CACHE, address_error, probe, server_options};
use crate::spec::ConnectSpec;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPool};
use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, Postgres};

/// A pool of connections at READ COMMITTED that read literals as the standard
/// says and wait for a lock no longer than the spec allows.
pub(super) async fn pool(spec: &ConnectSpec) -> Result<PgPool, ConnectError> {
    let options: PgConnectOptions =
        spec.url.parse().map_err(|cause| address_error(spec, &cause))?;
    let options = options
        .application_name("stowplan")
        .statement_cache_capacity(STATEMENT_CACHE)
        .disable_statement_logging();
    probe::<PgConnection>(spec, &options, spec.acquire_timeout).await?;
    let settings = session(spec.lock_timeout.as_millis());
    let pool = server_options::<Postgres>(spec).after_connect(move |connection, _| {
        let settings = settings.clone();
        Box::pin(async move {
            connection.execute(AssertSqlSafe(settings)).await?;
            Ok(())
        })
    });
    Ok(pool.connect_lazy_with(options))
}

fn session(lock_timeout_ms: u128) -> String {
    format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE; \
         SET standard_conforming_strings = on; SET lock_timeout = {lock_timeout_ms}"
    )
}

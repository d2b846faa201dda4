//! What a connection is made from.

use sea_orm::DbBackend;
use std::fmt;
use std::time::Duration;

/// How long a connection is waited for.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a connection to a server is used.
const RECYCLE_TIME: Duration = Duration::from_secs(3600);
/// How long a lock held by another is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections a process holds when nothing else is said.
const MAX_CONNECTIONS: u32 = 5;

/// Where the database is and how to talk to it. Its `Debug` form shows no
/// password.
#[derive(Clone)]
pub struct ConnectSpec {
    /// Which database it is.
    pub backend: DbBackend,
    /// The address as sqlx reads it: `sqlite:///abs/path`, `postgres://..`,
    /// `mysql://..`. It may hold a password.
    pub(crate) url: String,
    /// How many connections the process may hold, at least 1. On the servers
    /// two are needed at least and taken if less is said; on SQLite it counts
    /// the readers, beside the one writer.
    pub max_connections: u32,
    /// SQLite only: whether every commit is on the disk before it is answered
    /// (`synchronous = FULL`). Without it a power cut may lose the last commits.
    pub sqlite_synchronous: bool,
    /// How long a free connection is waited for.
    pub acquire_timeout: Duration,
    /// How long a connection to a server is used before another takes its
    /// place; none: as long as it holds.
    pub recycle_time: Option<Duration>,
    /// How long a lock that another process or connection holds is waited for.
    pub lock_timeout: Duration,
    /// Servers only: how long whoever opens the ledger waits until no other
    /// process holds it; none: nobody is asked and nothing held.
    pub hold_patience: Option<Duration>,
}

impl ConnectSpec {
    /// The given database with everything else at its default: 5 connections,
    /// durable, 2 s for a connection and 5 s for a lock, not held.
    pub fn new(backend: DbBackend, url: impl Into<String>) -> Self {
        Self {
            backend,
            url: url.into(),
            max_connections: MAX_CONNECTIONS,
            sqlite_synchronous: true,
            acquire_timeout: ACQUIRE_TIMEOUT,
            recycle_time: Some(RECYCLE_TIME),
            lock_timeout: LOCK_TIMEOUT,
            hold_patience: None,
        }
    }

    /// A SQLite database that lives in memory as long as its connection.
    pub fn in_memory() -> Self {
        Self::new(DbBackend::Sqlite, "sqlite::memory:")
    }

    /// The address without the password and the parameters, for messages.
    pub fn place(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return self.url.clone();
        };
        if scheme == "sqlite" {
            // As the configuration has it: three slashes, then the path.
            return format!("sqlite:///{}", rest.split('?').next().unwrap_or_default());
        }
        let (login, server) = match rest.rsplit_once('@') {
            Some((login, server)) => (login.split(':').next(), server),
            None => (None, rest),
        };
        let server = server.split(['?', '#']).next().unwrap_or_default();
        match login {
            Some(user) => format!("{scheme}://{user}@{server}"),
            None => format!("{scheme}://{server}"),
        }
    }
}

impl fmt::Debug for ConnectSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectSpec")
            .field("place", &self.place())
            .field("max_connections", &self.max_connections)
            .field("sqlite_synchronous", &self.sqlite_synchronous)
            .field("acquire_timeout", &self.acquire_timeout)
            .field("lock_timeout", &self.lock_timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (url, place) in [
            ("postgres://u:secret@h:5432/d?x=secret", "postgres://u@h:5432/d"),
            ("mysql://u:sec@ret@h/d", "mysql://u@h/d"),
            ("mysql://u:secr?et@h/d", "mysql://u@h/d"),
            ("sqlite:///var/lib/x.db?mode=rwc", "sqlite:////var/lib/x.db"),
            ("sqlite://x.db?mode=rwc", "sqlite:///x.db"),
            ("sqlite::memory:", "sqlite::memory:"),
        ] {
            let spec = ConnectSpec::new(DbBackend::Sqlite, url);
            assert_eq!(spec.place(), place);
            assert!(format!("{spec:?}").contains(place));
        }
    }
}

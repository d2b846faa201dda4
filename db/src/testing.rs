//! A database of its own for each test, dropped after it, on each of the three
//! databases. The servers are named by `STOWPLAN_TEST_POSTGRES_URL` and
//! `STOWPLAN_TEST_MARIADB_URL`, as a user who may make databases; without them
//! only SQLite is used.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::connect::{Connection, connect};
use crate::schema::migrate;
use crate::spec::ConnectSpec;
use sea_orm::DbBackend;
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _, Executor as _};
use uuid::Uuid;

/// The databases that tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file in a directory of its own.
    Sqlite,
    /// A database on the server named by `STOWPLAN_TEST_POSTGRES_URL`.
    Postgres,
    /// A database on the server named by `STOWPLAN_TEST_MARIADB_URL`.
    MariaDb,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::MariaDb];

    /// Which backend it is.
    pub fn backend(self) -> DbBackend {
        match self {
            Self::Sqlite => DbBackend::Sqlite,
            Self::Postgres => DbBackend::Postgres,
            Self::MariaDb => DbBackend::MySql,
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => "STOWPLAN_TEST_POSTGRES_URL",
            Self::MariaDb => "STOWPLAN_TEST_MARIADB_URL",
        }
    }
}

/// An empty database that is dropped with this value.
#[derive(Debug)]
pub struct TestDatabase {
    spec: ConnectSpec,
    home: Home,
}

#[derive(Debug)]
enum Home {
    Directory(#[expect(dead_code, reason = "removed when dropped")] tempfile::TempDir),
    Server { kind: Kind, server: String, name: String },
}

impl TestDatabase {
    /// Makes an empty database; none, with a word on the error stream, when no
    /// server of the kind is named.
    ///
    /// # Panics
    /// When a server is named and does not do as asked.
    pub async fn create(kind: Kind) -> Option<Self> {
        if kind == Kind::Sqlite {
            let directory = tempfile::tempdir().expect("a directory for the test's database");
            let file = directory.path().join("ledger.db");
            let url = format!("sqlite://{}", file.display());
            // Of a test nothing has to outlive a power cut.
            let mut spec = ConnectSpec::new(DbBackend::Sqlite, url);
            spec.sqlite_synchronous = false;
            return Some(Self { spec, home: Home::Directory(directory) });
        }
        let Ok(server) = std::env::var(kind.variable()) else {
            eprintln!("skipped on {kind:?}: {} is not set", kind.variable());
            return None;
        };
        let name = format!("stowplan_test_{}", Uuid::new_v4().simple());
        administer(kind, &server, format!("CREATE DATABASE {name}"))
            .await
            .expect("a database for the test");
        Some(Self {
            spec: ConnectSpec::new(kind.backend(), with_database(&server, &name)),
            home: Home::Server { kind, server, name },
        })
    }

    /// How to connect to it; change what the test needs.
    pub fn spec(&self) -> ConnectSpec {
        self.spec.clone()
    }

    /// Its address as sqlx reads it.
    pub fn url(&self) -> &str {
        &self.spec.url
    }

    /// Connects to it.
    ///
    /// # Panics
    /// When that fails.
    pub async fn connect(&self) -> Connection {
        connect(&self.spec).await.expect("the test's database opens")
    }

    /// Connects to it with all migrations run.
    ///
    /// # Panics
    /// When that fails.
    pub async fn migrated(&self) -> Connection {
        let connection = self.connect().await;
        migrate(&connection, |_| ()).await.expect("the migrations");
        connection
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let Home::Server { kind, server, name } = &self.home else {
            return;
        };
        let force = match kind {
            Kind::Postgres => " WITH (FORCE)",
            _ => "",
        };
        let (kind, server) = (*kind, server.clone());
        let sql = format!("DROP DATABASE {name}{force}");
        // The test's own runtime cannot be waited on from here.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime to drop the database with");
            runtime.block_on(administer(kind, &server, sql))
        });
        match dropped.join() {
            Ok(Ok(())) => {}
            failed => eprintln!("{name} was not dropped: {failed:?}"),
        }
    }
}

async fn administer(kind: Kind, server: &str, sql: String) -> Result<(), sqlx::Error> {
    match kind {
        Kind::Sqlite => Ok(()),
        Kind::Postgres => {
            let mut connection = sqlx::PgConnection::connect(server).await?;
            connection.execute(AssertSqlSafe(sql)).await?;
            connection.close().await
        }
        Kind::MariaDb => {
            let mut connection = sqlx::MySqlConnection::connect(server).await?;
            connection.execute(AssertSqlSafe(sql)).await?;
            connection.close().await
        }
    }
}

/// The server's address with another database in it.
fn with_database(server: &str, name: &str) -> String {
    let (address, parameters) = match server.split_once('?') {
        Some((address, parameters)) => (address, format!("?{parameters}")),
        None => (server, String::new()),
    };
    let (scheme, rest) = address.split_once("://").expect("an address with a scheme");
    let host = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{host}/{name}{parameters}")
}

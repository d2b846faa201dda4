//! Connecting: the real cause when it fails, no password in any message, the
//! sessions' settings.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, TryGetable};
use std::path::Path;
use std::time::Duration;
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_db::{
    Backend, Batch, ConnectError, ConnectSpec, Statements, connect, migrate, read_head, sea_orm,
};

async fn ask<T: TryGetable>(db: &DatabaseConnection, sql: &str) -> T {
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await.unwrap().unwrap();
    row.try_get_by_index(0).unwrap()
}

#[tokio::test]
async fn a_refused_connection_says_why() {
    // Nothing listens on port 1.
    for (backend, scheme) in [(Backend::Postgres, "postgres"), (Backend::MySql, "mysql")] {
        let spec = ConnectSpec::new(backend, format!("{scheme}://me:secret@127.0.0.1:1/stow"));
        let error = connect(&spec).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ConnectError::Refused { .. }));
        assert!(text.contains(&format!("{scheme}://me@127.0.0.1:1/stow")), "{text}");
        assert!(text.contains("refused"), "{text}");
        assert!(!text.contains("secret") && !format!("{error:?} {spec:?}").contains("secret"));
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_not_waited_for() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    for (backend, scheme) in [(Backend::Postgres, "postgres"), (Backend::MySql, "mysql")] {
        let mut spec = ConnectSpec::new(backend, format!("{scheme}://me@127.0.0.1:{port}/stow"));
        spec.acquire_timeout = Duration::from_millis(200);
        let text = connect(&spec).await.unwrap_err().to_string();
        assert!(text.contains("no answer within 200ms"), "{text}");
    }
}

#[tokio::test]
async fn an_address_that_is_not_understood() {
    for (backend, url) in [
        (Backend::Postgres, "postgres://me:secret@host:port/stow"),
        (Backend::MySql, "mysql://me:secret@host:port/stow"),
        (Backend::MySql, "mysql://me:secret@host/stow?ssl-mode=sometimes"),
        (Backend::Sqlite, "sqlite:///tmp/x.db?mode=sometimes"),
    ] {
        let error = connect(&ConnectSpec::new(backend, url)).await.unwrap_err();
        assert!(matches!(error, ConnectError::Address { .. }), "{url}: {error}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_database_that_is_not_there() {
    for kind in [Kind::Postgres, Kind::MariaDb] {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let url = database.url().replace("stowplan_test_", "stowplan_none_");
        let error = connect(&ConnectSpec::new(kind.backend(), url)).await.unwrap_err();
        let text = error.to_string().to_lowercase();
        assert!(text.contains("stowplan_none_"), "{text}");
        assert!(text.contains("does not exist") || text.contains("unknown database"), "{text}");
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("sub");
    let url = format!("sqlite://{}/ledger.db", directory.display());
    let error = connect(&ConnectSpec::new(Backend::Sqlite, url)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Directory { .. }), "{error}");
    let expected = format!("there is no directory {}", directory.display());
    assert!(error.to_string().ends_with(&expected), "{error}");
    assert!(!directory.exists());
}

#[tokio::test]
async fn a_file_that_is_no_database() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "plain text, and long enough to be taken for a header".repeat(9))
        .unwrap();
    let url = format!("sqlite://{}", file.path().display());
    let error = connect(&ConnectSpec::new(Backend::Sqlite, url)).await.unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");
}

#[tokio::test]
async fn sqlite_settings() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    for (durable, synchronous) in [(true, 2), (false, 1)] {
        let mut spec = database.spec();
        spec.sqlite_synchronous = durable;
        let connection = connect(&spec).await.unwrap();
        let writer = connection.writer().await;
        for db in [&*writer, connection.reader()] {
            assert_eq!(ask::<String>(db, "PRAGMA journal_mode").await, "wal");
            assert_eq!(ask::<String>(db, "PRAGMA locking_mode").await, "normal");
            assert_eq!(ask::<i64>(db, "PRAGMA synchronous").await, synchronous);
            assert_eq!(ask::<i64>(db, "PRAGMA wal_autocheckpoint").await, 4_000);
            assert_eq!(ask::<i64>(db, "PRAGMA busy_timeout").await, 5_000);
        }
        drop(writer);
        connection.close().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_committed_to_a_log_made_beforehand_is_found_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let [here, left] = ["here.db", "left.db"].map(|name| folder.path().join(name));
    let spec =
        |file: &Path| ConnectSpec::new(Backend::Sqlite, format!("sqlite://{}", file.display()));
    let log = |file: &Path| file.with_extension("db-wal");
    let connection = connect(&spec(&here)).await.unwrap();
    migrate(&connection, |_| ()).await.unwrap();
    assert!(std::fs::metadata(log(&here)).unwrap().len() > 16_000_000);
    connection.write(0, 1, "b", Statements::none(&connection)).await.unwrap();
    std::fs::copy(&here, &left).unwrap();
    std::fs::copy(log(&here), log(&left)).unwrap();
    let found = connect(&spec(&left)).await.unwrap();
    assert_eq!(read_head(found.reader()).await.unwrap().seq, 1);
    found.write(1, 2, "b", Statements::none(&found)).await.unwrap();
    // The log goes with the last who uses it.
    found.close().await.unwrap();
    assert!(!log(&left).exists());
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_database_in_memory_outlives_its_calls() {
    let connection = connect(&ConnectSpec::in_memory()).await.unwrap();
    migrate(&connection, |_| ()).await.unwrap();
    assert_eq!(read_head(connection.reader()).await.unwrap().seq, 0);
    connection.write(0, 1, "b", Statements::none(&connection)).await.unwrap();
    assert_eq!(read_head(connection.reader()).await.unwrap().seq, 1);
    // Each has a database of its own.
    let other = connect(&ConnectSpec::in_memory()).await.unwrap();
    read_head(other.reader()).await.unwrap_err();
}

#[tokio::test]
async fn postgres_settings() {
    let Some(database) = TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    let connection = database.connect().await;
    for (name, value) in [
        ("transaction_isolation", "read committed"),
        ("standard_conforming_strings", "on"),
        ("lock_timeout", "5s"),
        ("application_name", "stowplan"),
    ] {
        assert_eq!(
            ask::<String>(&*connection.writer().await, &format!("SHOW {name}")).await,
            value
        );
    }
}

#[tokio::test]
async fn mariadb_settings() {
    let Some(database) = TestDatabase::create(Kind::MariaDb).await else {
        return;
    };
    let connection = database.connect().await;
    let writer = connection.writer().await;
    let db = &*writer;
    let mode = ask::<String>(db, "SELECT @@sql_mode").await;
    assert!(mode.contains("STRICT_ALL_TABLES") && !mode.contains("BACKSLASH"), "{mode}");
    assert_eq!(ask::<String>(db, "SELECT @@tx_isolation").await, "READ-COMMITTED");
    for (name, value) in [("innodb_lock_wait_timeout", "5"), ("wsrep_sync_wait", "1")] {
        let sql = format!("SELECT CAST(@@SESSION.{name} AS CHAR)");
        assert_eq!(ask::<String>(db, &sql).await, value, "{name}");
    }
}

#[tokio::test]
async fn a_connection_is_replaced_once_its_time_is_up() {
    for (kind, own) in [
        (Kind::Postgres, "SELECT pg_backend_pid()::bigint"),
        (Kind::MariaDb, "SELECT CAST(CONNECTION_ID() AS SIGNED)"),
    ] {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let mut spec = database.spec();
        spec.recycle_time = Some(Duration::from_secs(1));
        let connection = connect(&spec).await.unwrap();
        let first = ask::<i64>(connection.reader(), own).await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_ne!(ask::<i64>(connection.reader(), own).await, first, "{kind:?}");
    }
}

#[tokio::test]
async fn a_file_that_another_writes_is_opened() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let writing = database.migrated().await;
    let mut held = Batch::begin(&writing).await.unwrap();
    assert!(held.move_head(0, 1, "held").await.unwrap());
    // Whoever waited for the lock would wait in vain, and fail.
    let connection = database.connect().await;
    assert_eq!(read_head(connection.reader()).await.unwrap().seq, 0);
    held.rollback().await.unwrap();
}

#[test]
fn a_connection_may_outlive_its_runtime() {
    for kind in Kind::ALL {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let Some(database) = runtime.block_on(TestDatabase::create(kind)) else {
            continue;
        };
        let connection = runtime.block_on(async {
            let connection = database.migrated().await;
            connection.write(0, 1, "b", Statements::none(&connection)).await.unwrap();
            connection
        });
        drop(runtime);
        drop(connection);
    }
}

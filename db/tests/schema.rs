//! The schema is made alike on all databases, may be made again, and is
//! refused when it is newer than the program or another's.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use sea_orm::ConnectionTrait;
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_db::{SchemaError, migrate, read_head, schema_version, sea_orm};

#[tokio::test]
async fn migrations_run_once() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.connect().await;
        let before = schema_version(&connection).await.unwrap();
        assert_eq!(before.applied, Vec::<String>::new());
        assert_eq!(before.pending, before.known);

        let mut steps = Vec::new();
        let after = migrate(&connection, |step| {
            steps.push((step.number, step.total, step.name.to_owned()));
        })
        .await
        .unwrap();
        assert!(after.is_current(), "{kind:?}: {after:?}");
        let total = after.known.len();
        let expected: Vec<_> =
            (1..=total).map(|number| (number, total, after.known[number - 1].clone())).collect();
        assert_eq!(steps, expected);

        let again = migrate(&connection, |step| panic!("{kind:?} ran {step:?}"));
        assert!(again.await.unwrap().is_current());
        let head = read_head(&*connection.writer().await).await.unwrap();
        assert_eq!((head.seq, head.batch, head.leader_epoch), (0, None, 0));
        assert_eq!(usize::try_from(head.schema_epoch), Ok(total));
    }
}

#[tokio::test]
async fn a_migration_that_was_cut_off_is_run_again() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        for cut in [
            "UPDATE head SET seq = 7",
            "DROP TABLE journal",
            "DELETE FROM seaql_migrations WHERE version = 'm0001_ledger'",
        ] {
            connection.writer().await.execute_unprepared(cut).await.unwrap();
        }
        assert!(migrate(&connection, |_| ()).await.unwrap().is_current());
        assert_eq!(read_head(connection.reader()).await.unwrap().seq, 7, "{kind:?}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 1)";
        connection.writer().await.execute_unprepared(newer).await.unwrap();
        for outcome in [schema_version(&connection).await, migrate(&connection, |_| ()).await] {
            let error = outcome.unwrap_err();
            assert!(
                matches!(&error, SchemaError::Newer { unknown } if unknown == &["m9999_later"])
            );
            assert!(error.to_string().contains("m9999_later"), "{error}");
        }
        let epoch = "UPDATE head SET schema_epoch = schema_epoch + 1";
        connection.writer().await.execute_unprepared(epoch).await.unwrap();
        let error = read_head(&*connection.writer().await).await.unwrap_err().to_string();
        assert!(error.contains("schema is number"), "{error}");
    }
}

#[tokio::test]
async fn another_programs_database_is_left_alone() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.connect().await;
        let foreign = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)";
        connection.writer().await.execute_unprepared(foreign).await.unwrap();
        let error = migrate(&connection, |_| ()).await.unwrap_err();
        assert!(matches!(error, SchemaError::Foreign { .. }), "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn two_processes_may_migrate_at_once() {
    for kind in [Kind::Postgres, Kind::MariaDb] {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let (one, other) = (database.connect().await, database.connect().await);
        let (one, other) = tokio::join!(migrate(&one, |_| ()), migrate(&other, |_| ()));
        assert!(one.unwrap().is_current());
        assert!(other.unwrap().is_current());
    }
}

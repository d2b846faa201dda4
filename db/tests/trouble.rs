//! Errors provoked on each database, and what they are taken for.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Statement, TransactionTrait};
use std::time::Duration;
use stowplan_db::entity::trait_name;
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_db::{Backend, Batch, Connection, Statements, Trouble, connect, migrate, sea_orm};

const SERVERS: [Kind; 2] = [Kind::Postgres, Kind::MariaDb];

async fn insert(connection: &Connection, id: i64, name: &str) -> Result<(), DbErr> {
    let row = trait_name::Model { id, name: name.to_owned(), created_us: 0, updated_us: 0 };
    let insert = trait_name::Entity::insert(row.into_active_model());
    insert.exec_without_returning(&*connection.writer().await).await.map(|_| ())
}

#[tokio::test]
async fn rows_that_break_a_rule() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        insert(&connection, 1, "a").await.unwrap();
        let mut errors = vec![
            insert(&connection, 1, "b").await.unwrap_err(),
            insert(&connection, 2, "a").await.unwrap_err(),
        ];
        for broken in [
            "INSERT INTO traits (id, name, created_us, updated_us) VALUES (3, NULL, 0, 0)",
            "INSERT INTO traits (id, created_us, updated_us) VALUES (3, 0, 0)",
        ] {
            errors.push(connection.writer().await.execute_unprepared(broken).await.unwrap_err());
        }
        if kind != Kind::Sqlite {
            errors.push(insert(&connection, 4, &"x".repeat(256)).await.unwrap_err());
            let wide = "UPDATE head SET schema_epoch = 4294967296";
            errors.push(connection.writer().await.execute_unprepared(wide).await.unwrap_err());
        }
        for error in errors {
            assert_eq!(Trouble::classify(&error), Trouble::Constraint, "{kind:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_wrong_statement_is_nothing_to_try_again() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        for wrong in ["SELEKT 1", "SELECT 1 FROM no_such_table"] {
            let error = connection.writer().await.execute_unprepared(wrong).await.unwrap_err();
            assert_eq!(Trouble::classify(&error), Trouble::Other, "{kind:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_lock_that_is_not_had_in_time() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let holder = database.migrated().await;
        let mut spec = database.spec();
        spec.lock_timeout = Duration::from_secs(1);
        let waiter = connect(&spec).await.unwrap();

        let mut held = Batch::begin(&holder).await.unwrap();
        assert!(held.move_head(0, 1, "held").await.unwrap());
        let error = waiter.write(0, 1, "waiting", Statements::none(&waiter)).await.unwrap_err();
        assert_eq!(Trouble::classify(&error), Trouble::Retry, "{kind:?}: {error}");
        held.rollback().await.unwrap();
        waiter.write(0, 1, "waiting", Statements::none(&waiter)).await.unwrap();
    }
}

#[tokio::test]
async fn a_pool_with_nothing_free() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let mut spec = database.spec();
        spec.acquire_timeout = Duration::from_millis(300);
        let connection = connect(&spec).await.unwrap();
        migrate(&connection, |_| ()).await.unwrap();
        let mut held = Vec::new();
        let error = loop {
            match connection.writer().await.begin().await {
                Ok(open) => held.push(open),
                Err(error) => break error,
            }
        };
        assert_eq!(Trouble::classify(&error), Trouble::Retry, "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn a_deadlock() {
    for kind in SERVERS {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        insert(&connection, 1, "a").await.unwrap();
        insert(&connection, 2, "b").await.unwrap();
        let touch = |id: i64| format!("UPDATE traits SET updated_us = 9 WHERE id = {id}");
        let mut one = Batch::begin(&connection).await.unwrap();
        let mut other = Batch::begin(&connection).await.unwrap();
        one.execute_text(&touch(1)).await.unwrap();
        other.execute_text(&touch(2)).await.unwrap();
        let (first, second) = (touch(2), touch(1));
        let (first, second) = tokio::join!(
            async { (one.execute_text(&first).await, one.rollback().await).0 },
            async { (other.execute_text(&second).await, other.rollback().await).0 },
        );
        let errors: Vec<_> = [first, second].into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{kind:?}: {errors:?}");
        assert_eq!(Trouble::classify(&errors[0]), Trouble::Retry, "{kind:?}: {errors:?}");
    }
}

#[tokio::test]
async fn a_connection_that_was_killed() {
    for kind in SERVERS {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let (own, kill) = match kind.backend() {
            Backend::Postgres => ("SELECT pg_backend_pid()::bigint", "SELECT pg_terminate_backend"),
            _ => ("SELECT CAST(CONNECTION_ID() AS SIGNED)", "KILL "),
        };
        let mut open = Batch::begin(&connection).await.unwrap();
        assert!(open.move_head(0, 1, "doomed").await.unwrap());
        let own = Statement::from_string(kind.backend(), own);
        let own = open.transaction().query_one_raw(own).await.unwrap().unwrap();
        let own: i64 = own.try_get_by_index(0).unwrap();
        connection.writer().await.execute_unprepared(&format!("{kill}({own})")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;

        let error = open.commit().await.unwrap_err();
        assert_eq!(Trouble::classify(&error), Trouble::Lost, "{kind:?}: {error}");
        // The pool gives another connection in its place, at the latest when
        // the dead one has been tried.
        let mut again = connection.write(0, 1, "again", Statements::none(&connection)).await;
        if let Err(error) = &again {
            assert_eq!(Trouble::classify(error), Trouble::Lost, "{kind:?}: {error}");
            again = connection.write(0, 1, "again", Statements::none(&connection)).await;
        }
        again.unwrap();
    }
}

#[tokio::test]
async fn a_reader_and_a_read_only_file() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let connection = database.migrated().await;
    let write = "UPDATE head SET seq = 1";
    let error = connection.reader().execute_unprepared(write).await.unwrap_err();
    assert_eq!(Trouble::classify(&error), Trouble::ReadOnly, "{error}");
}

#[tokio::test]
async fn a_read_only_transaction() {
    for kind in SERVERS {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let snapshot = connection.snapshot().await.unwrap();
        let error = snapshot.execute_unprepared("UPDATE head SET seq = 1").await.unwrap_err();
        assert_eq!(Trouble::classify(&error), Trouble::ReadOnly, "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn a_full_database() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let connection = database.migrated().await;
    let writer = connection.writer().await;
    let db = &*writer;
    db.execute_unprepared("PRAGMA max_page_count = 1").await.unwrap();
    let filler = "INSERT INTO journal (seq, batch, version, kind, request_id, time_us, body) \
                  VALUES (1, 'b', 1, 'k', 'r', 0, hex(zeroblob(1000000)))";
    let error = db.execute_unprepared(filler).await.unwrap_err();
    assert_eq!(Trouble::classify(&error), Trouble::Full, "{error}");
}

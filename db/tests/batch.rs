//! Batches of the writer: the head's compare-and-set, all or nothing, what
//! other writers do meanwhile, what a lost commit left.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use sea_orm::{ConnectionTrait, EntityTrait, IntoActiveModel};
use stowplan_db::entity::{journal, member};
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_db::{
    Batch, Connection, Script, Statements, Trouble, Written, journal_batch, journal_since,
    read_head, sea_orm, trim_journal,
};

fn entry(seq: i64, batch: &str) -> journal::Model {
    journal::Model {
        seq,
        batch: batch.to_owned(),
        version: 1,
        kind: "test".to_owned(),
        request_id: "req-1".to_owned(),
        time_us: 1,
        body: "{}".to_owned(),
    }
}

/// Statements that add rows to the journal.
fn rows(connection: &Connection, rows: &[(i64, &str)]) -> Statements {
    let mut script = Script::new(connection);
    for (seq, batch) in rows {
        script.insert([entry(*seq, batch)]);
    }
    script.finish().unwrap()
}

/// The same beside batches.
fn row_beside(connection: &Connection, seq: i64, batch: &str) -> Statements {
    let mut script = Script::text(connection);
    script.insert([entry(seq, batch)]);
    script.finish().unwrap()
}

fn batch(number: u32) -> String {
    format!("{number:036}")
}

async fn seqs(connection: &Connection, since: i64, limit: u64) -> Vec<i64> {
    let rows = journal_since(connection.reader(), since, limit).await.unwrap();
    rows.into_iter().map(|row| row.seq).collect()
}

#[tokio::test]
async fn a_batch_is_written_whole_or_not_at_all() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let six = |from: i64, number: u32| {
            let batch = batch(number);
            let six: Vec<_> = (from..from + 6).map(|seq| (seq, batch.as_str())).collect();
            rows(&connection, &six)
        };
        let none = || Statements::none(&connection);
        let written = connection.write(0, 6, &batch(1), six(1, 1)).await;
        assert_eq!(written.unwrap(), Written::Committed, "{kind:?}");
        let written = connection.write(6, 12, &batch(2), six(7, 2)).await;
        assert_eq!(written.unwrap(), Written::Committed, "{kind:?}");
        let written = connection.write(12, 12, &batch(3), none()).await;
        assert_eq!(written.unwrap(), Written::Committed, "{kind:?}");
        assert_eq!(read_head(connection.reader()).await.unwrap().batch, Some(batch(3)));

        // The head is elsewhere.
        let moved = connection.write(6, 18, &batch(4), six(13, 4)).await;
        assert_eq!(moved.unwrap(), Written::HeadMoved, "{kind:?}");
        let moved = connection.write(6, 18, &batch(4), none()).await;
        assert_eq!(moved.unwrap(), Written::HeadMoved, "{kind:?}");

        // The last row's key is taken.
        let clash = rows(&connection, &[(13, &batch(5)), (14, &batch(5)), (1, &batch(5))]);
        let error = connection.write(12, 19, &batch(5), clash).await.unwrap_err();
        assert_eq!(Trouble::classify(&error), Trouble::Constraint, "{kind:?}: {error}");
        let head = read_head(connection.reader()).await.unwrap();
        assert_eq!((head.seq, head.batch), (12, Some(batch(3))), "{kind:?}");
        assert_eq!(seqs(&connection, 0, 100).await, Vec::from_iter(1..=12), "{kind:?}");
        assert_eq!(seqs(&connection, 4, 3).await, [5, 6, 7], "{kind:?}");
        assert_eq!(journal_batch(connection.reader(), 0, &batch(2)).await.unwrap(), Some(12));
        assert_eq!(journal_batch(connection.reader(), 0, &batch(5)).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_failed_statement_poisons_its_batch() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let mut open = Batch::begin(&connection).await.unwrap();
        assert!(open.move_head(0, 2, &batch(1)).await.unwrap());
        open.execute_all(row_beside(&connection, 1, &batch(1))).await.unwrap();
        let error = open.execute_all(row_beside(&connection, 1, &batch(1))).await.unwrap_err();
        assert_eq!(Trouble::classify(&error), Trouble::Constraint);
        open.commit().await.unwrap_err();
        assert_eq!(read_head(connection.reader()).await.unwrap().seq, 0, "{kind:?}");
        assert_eq!(seqs(&connection, 0, 10).await, [0_i64; 0], "{kind:?}");
    }
}

#[tokio::test]
async fn of_many_writers_each_sequence_goes_to_one() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let mut writers = tokio::task::JoinSet::new();
        for number in 1..=4 {
            // A process of its own each.
            let connection = database.connect().await;
            writers.spawn(async move {
                let mut written = 0;
                while written < 10 {
                    let known = read_head(connection.reader()).await.unwrap().seq;
                    let (new, batch) = (known + 1, batch(number));
                    let row = rows(&connection, &[(new, &batch)]);
                    match connection.write(known, new, &batch, row).await {
                        Ok(Written::Committed) => written += 1,
                        Ok(Written::HeadMoved) => {}
                        Err(error) => {
                            assert_eq!(Trouble::classify(&error), Trouble::Retry, "{error}");
                        }
                    }
                }
            });
        }
        writers.join_all().await;
        assert_eq!(seqs(&connection, 0, 100).await, Vec::from_iter(1..=40), "{kind:?}");
        assert_eq!(read_head(connection.reader()).await.unwrap().seq, 40, "{kind:?}");
    }
}

#[tokio::test]
async fn the_head_lock_settles_what_a_batch_in_doubt_came_to() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let mut doubtful = Batch::begin(&connection).await.unwrap();
        assert!(doubtful.move_head(0, 1, &batch(1)).await.unwrap());
        doubtful.execute_all(row_beside(&connection, 1, &batch(1))).await.unwrap();

        let other = database.connect().await;
        let settle = tokio::spawn(async move {
            let mut open = Batch::begin(&other).await.unwrap();
            let head = open.lock_head().await.unwrap();
            let found = journal_batch(open.transaction(), 0, &batch(1)).await.unwrap();
            open.rollback().await.unwrap();
            (head.seq, found)
        });
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert!(!settle.is_finished(), "{kind:?}: the lock was not waited for");
        doubtful.commit().await.unwrap();
        assert_eq!(settle.await.unwrap(), (1, Some(1)), "{kind:?}");
    }
}

#[tokio::test]
async fn sqlite_tells_of_foreign_writes_only() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let connection = database.migrated().await;
    let write = async |known: i64| {
        let row = rows(&connection, &[(known + 1, &batch(1))]);
        connection.write(known, known + 1, &batch(1), row).await.unwrap()
    };
    assert_eq!(write(0).await, Written::Committed);
    let heartbeat = member::Model { id: batch(9), applied_seq: 1, heartbeat_us: 1 };
    let heartbeat = member::Entity::insert(heartbeat.into_active_model());
    heartbeat.exec_without_returning(&*connection.writer().await).await.unwrap();
    seqs(&connection, 0, 10).await;
    assert_eq!(write(1).await, Written::Committed);

    let foreign = database.connect().await;
    let heard = "UPDATE members SET heartbeat_us = 2";
    foreign.writer().await.execute_unprepared(heard).await.unwrap();
    assert_eq!(write(2).await, Written::HeadMoved);
    assert_eq!(write(2).await, Written::Committed);
}

#[tokio::test]
async fn an_older_program_no_longer_writes() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let newer = "UPDATE head SET schema_epoch = schema_epoch + 1";
        connection.writer().await.execute_unprepared(newer).await.unwrap();
        let row = rows(&connection, &[(1, &batch(1))]);
        let written = connection.write(0, 1, &batch(1), row).await.unwrap();
        assert_eq!(written, Written::HeadMoved, "{kind:?}");
    }
}

#[tokio::test]
async fn a_snapshot_sees_one_state() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        let snapshot = connection.snapshot().await.unwrap();
        assert_eq!(read_head(&snapshot).await.unwrap().seq, 0);
        let row = rows(&connection, &[(1, &batch(1))]);
        connection.write(0, 1, &batch(1), row).await.unwrap();
        assert_eq!(journal_since(&snapshot, 0, 10).await.unwrap(), [], "{kind:?}");
        assert_eq!(read_head(&snapshot).await.unwrap().seq, 0, "{kind:?}");
        snapshot.rollback().await.unwrap();
        assert_eq!(read_head(connection.reader()).await.unwrap().seq, 1, "{kind:?}");
    }
}

#[tokio::test]
async fn the_journal_forgets_what_is_old_in_pieces_and_never_the_last() {
    for kind in Kind::ALL {
        let Some(database) = TestDatabase::create(kind).await else {
            continue;
        };
        let connection = database.migrated().await;
        assert_eq!(trim_journal(&connection, i64::MAX, 10, None).await.unwrap(), 0);
        // Written at 10, 20, .., but for a clock that went back once.
        let times = [10, 20, 30, 25, 40, 50];
        let rows = times.into_iter().zip(1..).map(|(time_us, seq)| journal::Model {
            seq,
            batch: batch(1),
            version: 1,
            kind: "test".to_owned(),
            request_id: "req-1".to_owned(),
            time_us,
            body: "[]".to_owned(),
        });
        let insert = journal::Entity::insert_many(rows.map(IntoActiveModel::into_active_model));
        insert.exec_without_returning(&*connection.writer().await).await.unwrap();
        assert_eq!(trim_journal(&connection, 10, 10, None).await.unwrap(), 0, "{kind:?}");
        assert_eq!(trim_journal(&connection, 28, 10, None).await.unwrap(), 2, "{kind:?}");
        assert_eq!(seqs(&connection, 0, 10).await, [3, 4, 5, 6], "{kind:?}");
        assert_eq!(trim_journal(&connection, 100, 2, None).await.unwrap(), 2, "{kind:?}");
        assert_eq!(trim_journal(&connection, 100, 2, None).await.unwrap(), 1, "{kind:?}");
        assert_eq!(trim_journal(&connection, 100, 2, None).await.unwrap(), 0, "{kind:?}");
        assert_eq!(seqs(&connection, 0, 10).await, [6], "{kind:?}");
    }
}

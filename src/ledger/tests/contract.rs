//! The ledger's contract, the same on every database: whatever several
//! clients do at once, the image, a fresh load and a replay of the journal are
//! the same, and nobody ever holds more than there is.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{
    Op, databases, furniture,
    look::{faults, fingerprint, last_ids},
    open, ops, propose, run, seed,
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_ledger::{Change, Image, Ledger, Record, Unavailable, WriteError};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Applies the whole journal to an empty image.
async fn replay(ledger: &Ledger) -> Image {
    let mut image = Image::default();
    loop {
        let entries = ledger.journal(image.seq(), 100).await.unwrap();
        if entries.is_empty() {
            return image;
        }
        for entry in entries {
            assert_eq!(entry.seq, image.next_seq(), "the journal has no gaps");
            image.apply(&entry.change);
        }
    }
}

async fn several_clients(database: &TestDatabase, clients: Vec<Vec<Op>>) {
    let ledger = open(database.spec()).await;
    ledger.write("req-seed", seed).await.unwrap();
    for op in furniture() {
        run(&ledger, op).await.unwrap();
    }
    let tasks = clients.into_iter().map(|ops| {
        let ledger = ledger.clone();
        tokio::spawn(async move {
            for op in ops {
                // Refusals are part of the game; their rules are the test's.
                let _ = run(&ledger, op).await;
                let image = ledger.image();
                assert_eq!(faults(&image), Vec::<String>::new());
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let (image, ids) = (fingerprint(&ledger.image()), last_ids(&ledger.image()));
    let replayed = replay(&ledger).await;
    assert_eq!(ledger.image().seq(), replayed.seq());
    assert_eq!(image, fingerprint(&replayed), "the image is not the replay of the journal");
    assert_eq!(ids, last_ids(&replayed));
    ledger.close().await;
    let fresh = open(database.spec()).await;
    assert_eq!(image, fingerprint(&fresh.image()), "the image is not a fresh load");
    assert_eq!(ids, last_ids(&fresh.image()), "ids would be given twice");
    fresh.close().await;
}

fn property(kind: Kind, cases: u32) {
    let runtime = runtime();
    let clients = prop::collection::vec(prop::collection::vec(ops(), 1..40), 1..5);
    let mut runner = TestRunner::new(Config { cases, max_shrink_iters: 60, ..Config::default() });
    let outcome = runner.run(&clients, |clients| {
        runtime.block_on(async {
            match TestDatabase::create(kind).await {
                Some(database) => several_clients(&database, clients).await,
                None => eprintln!("skipped: no {kind:?} named in the environment"),
            }
        });
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn image_is_load_is_replay_on_sqlite() {
    property(Kind::Sqlite, 64);
}

#[test]
fn image_is_load_is_replay_on_postgres() {
    property(Kind::Postgres, 12);
}

#[test]
fn image_is_load_is_replay_on_mariadb() {
    property(Kind::MariaDb, 12);
}

#[test]
fn a_proposal_that_breaks_off_fails_alone() {
    runtime().block_on(async {
        for database in databases().await {
            let ledger = open(database.spec()).await;
            ledger.write("req-seed", seed).await.unwrap();
            let provider = Op::Provider { name: 1, parent: None };
            let good = ledger.write("req-good", move |image| propose(image, &provider));
            let bad = ledger
                .write("req-bad", |_| -> Result<(Change, ()), ()> { panic!("a fault of a rule") });
            let (good, bad) = tokio::join!(good, bad);
            good.unwrap();
            assert!(matches!(bad, Err(WriteError::Unavailable(Unavailable::Fault { .. }))));
            assert_eq!(ledger.image().providers.len(), 1);
            ledger.close().await;
        }
    });
}

#[test]
fn a_refused_proposal_leaves_no_trace() {
    runtime().block_on(async {
        for database in databases().await {
            let ledger = open(database.spec()).await;
            let before = ledger.image().seq();
            let refused = ledger.write("req-no", |_| Err::<(Change, ()), _>("no")).await;
            assert!(matches!(refused, Err(WriteError::Refused("no"))));
            let nothing =
                ledger.write("req-nothing", |_| Ok::<_, ()>((Change::nothing(), 7))).await;
            assert_eq!(nothing.unwrap(), 7);
            assert_eq!(ledger.image().seq(), before);
            assert!(ledger.journal(before, 10).await.unwrap().is_empty());
            ledger.close().await;
        }
    });
}

#[test]
fn a_row_that_the_database_refuses_fails_alone_and_the_image_stays_true() {
    runtime().block_on(async {
        for database in databases().await {
            let ledger = open(database.spec()).await;
            ledger.write("req-seed", seed).await.unwrap();
            // A rule above would never let it through: two classes, one id.
            let twice = |image: &Image| {
                let mut change = Change::new("test");
                let first = image.classes.get("VCPU").unwrap();
                let mut row = (**first).clone();
                row.name = "CUSTOM_TWICE".to_owned();
                change.push(Record::Class(row));
                Ok::<_, ()>((change, ()))
            };
            let provider = Op::Provider { name: 1, parent: None };
            let good = ledger.write("req-good", move |image| propose(image, &provider));
            let (bad, good) = tokio::join!(ledger.write("req-bad", twice), good);
            assert!(matches!(bad, Err(WriteError::Unavailable(Unavailable::Fault { .. }))));
            good.unwrap();
            assert!(ledger.image().classes.get("CUSTOM_TWICE").is_none());
            assert_eq!(ledger.image().providers.len(), 1);
            ledger.close().await;
        }
    });
}

#[test]
fn after_close_nothing_is_taken() {
    runtime().block_on(async {
        for database in databases().await {
            let ledger = open(database.spec()).await;
            ledger.close().await;
            let late = ledger.write("req-late", seed).await;
            assert!(matches!(late, Err(WriteError::Unavailable(Unavailable::Closing))));
        }
    });
}

#[test]
fn what_another_program_writes_into_the_sqlite_file_is_read_before_the_next_write() {
    use stowplan_db::sea_orm::ConnectionTrait;
    runtime().block_on(async {
        let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
        let ledger = open(database.spec()).await;
        ledger.write("req-seed", seed).await.unwrap();
        run(&ledger, Op::Provider { name: 1, parent: None }).await.unwrap();
        let other = database.connect().await;
        let text = "UPDATE resource_providers SET name = 'renamed by hand'";
        other.writer().await.execute_unprepared(text).await.unwrap();
        run(&ledger, Op::Provider { name: 2, parent: None }).await.unwrap();
        let image = ledger.image();
        assert!(image.providers.find_name("renamed by hand").is_some());
        assert_eq!(image.providers.len(), 2);
        ledger.close().await;
    });
}

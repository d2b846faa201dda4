//! The writer under trouble: lost connections, locks held by others, other
//! writers, faults of proposals, too much work, the end.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{databases, look::fingerprint, open};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use stowplan_db::{
    Batch, Connection,
    sea_orm::{ConnectionTrait, DbBackend, Statement},
    testing::{Kind, TestDatabase},
};
use stowplan_ledger::{
    Change, Image, Ledger, Limits, OpenOptions, Quiet, Record, Unavailable, WriteError,
    rows::{DecisionRow, NameRow},
};
use stowplan_model::{Micros, Uuid};

const TIME: Micros = Micros(1);

/// A proposal for a new resource class.
fn class(name: String) -> impl FnMut(&Image) -> Result<(Change, ()), String> + Send + 'static {
    move |image| {
        if image.classes.get(&name).is_some() {
            return Err(name.clone());
        }
        let id = image.classes.next_id();
        let mut change = Change::new("class");
        change.push(Record::Class(NameRow {
            id,
            name: name.clone(),
            created: TIME,
            updated: TIME,
        }));
        Ok((change, ()))
    }
}

pub(crate) async fn add(ledger: &Ledger, name: &str) -> Result<(), WriteError<String>> {
    ledger.write("req-test", class(name.to_owned())).await
}

fn names(image: &Image) -> BTreeSet<String> {
    image.classes.iter().map(|row| row.name.clone()).collect()
}

async fn open_with(database: &TestDatabase, limits: Limits) -> Ledger {
    let options = OpenOptions { database: database.spec(), lock_file: None, limits };
    Ledger::open(options, &mut Quiet).await.unwrap()
}

/// Ends all connections to a database but the one that says so.
pub(crate) async fn cut(connection: &Connection) {
    let writer = connection.writer().await;
    let db = &*writer;
    if connection.backend() == DbBackend::Postgres {
        let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        // Our own idle connections are among them.
        let _ = db.execute_unprepared(all).await;
        return;
    }
    let all = "SELECT CAST(id AS SIGNED) FROM information_schema.processlist \
               WHERE db = DATABASE() AND id <> CONNECTION_ID()";
    let all = Statement::from_string(DbBackend::MySql, all);
    for row in db.query_all_raw(all).await.unwrap_or_default() {
        let id: i64 = row.try_get_by_index(0).unwrap();
        let _ = db.execute_unprepared(&format!("KILL {id}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_survives_lost_connections_and_what_is_not_left_no_trace() {
    for kind in [Kind::Postgres, Kind::MariaDb] {
        let Some(database) = TestDatabase::create(kind).await else { continue };
        let ledger = open(database.spec()).await;
        let saboteur = database.connect().await;
        let over = Arc::new(AtomicBool::new(false));
        let sabotage = {
            let over = over.clone();
            tokio::spawn(async move {
                for _ in 0..20 {
                    tokio::time::sleep(Duration::from_millis(120)).await;
                    cut(&saboteur).await;
                }
                over.store(true, Ordering::Relaxed);
            })
        };
        let clients = (0..4).map(|client| {
            let (ledger, over) = (ledger.clone(), over.clone());
            tokio::spawn(async move {
                let mut outcomes = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let name = format!("CUSTOM_{client}_{}", outcomes.len());
                    let outcome = add(&ledger, &name).await;
                    outcomes.push((name, outcome));
                }
                outcomes
            })
        });
        let mut acknowledged = BTreeSet::new();
        for client in clients.collect::<Vec<_>>() {
            for (name, outcome) in client.await.unwrap() {
                match outcome {
                    Ok(()) => {
                        acknowledged.insert(name);
                    }
                    Err(WriteError::Unavailable(Unavailable::Database { reason })) => {
                        assert!(!reason.contains("not known"), "{reason}");
                    }
                    Err(other) => panic!("{kind:?}: {name}: {other}"),
                }
            }
        }
        sabotage.await.unwrap();
        assert!(acknowledged.len() > 20, "{kind:?}: {}", acknowledged.len());
        assert_eq!(names(&ledger.image()), acknowledged, "{kind:?}");
        let image = fingerprint(&ledger.image());
        let fresh = open(database.spec()).await;
        assert_eq!(fingerprint(&fresh.image()), image, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_another_holds_is_waited_for() {
    for database in databases().await {
        let mut spec = database.spec();
        spec.lock_timeout = Duration::from_secs(1);
        let ledger = open(spec).await;
        let other = database.connect().await;
        let known = ledger.image().seq();
        let mut held = Batch::begin(&other).await.unwrap();
        assert!(held.move_head(known, known + 1, "held").await.unwrap());
        let write = tokio::spawn({
            let ledger = ledger.clone();
            async move { add(&ledger, "CUSTOM_A").await }
        });
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert!(!write.is_finished());
        held.rollback().await.unwrap();
        write.await.unwrap().unwrap();
        assert_eq!(ledger.image().seq(), known + 1);
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_one_has_waited_in_vain_the_next_are_told_at_once_until_writes_succeed() {
    for database in databases().await {
        let mut spec = database.spec();
        spec.lock_timeout = Duration::from_secs(1);
        let limits = Limits { retries: 2, ..Limits::default() };
        let options = OpenOptions { database: spec, lock_file: None, limits };
        let ledger = Ledger::open(options, &mut Quiet).await.unwrap();
        let other = database.connect().await;
        let known = ledger.image().seq();
        let mut held = Batch::begin(&other).await.unwrap();
        assert!(held.move_head(known, known + 1, "held").await.unwrap());
        assert_eq!(ledger.trouble(), None);
        // One in vain with all its tries, the next with one.
        for tries in ["after 3 tries", "after one try"] {
            let error = add(&ledger, "CUSTOM_A").await.unwrap_err();
            let WriteError::Unavailable(Unavailable::Database { reason }) = error else {
                panic!("{error}");
            };
            assert_eq!(ledger.trouble().as_deref(), Some(&reason));
            assert!(reason.contains(tries), "{reason}");
        }
        held.rollback().await.unwrap();
        // Nobody writes, and it is found out all the same.
        let until = Instant::now() + Duration::from_secs(10);
        while ledger.trouble().is_some() {
            assert!(Instant::now() < until, "nobody looked whether the database is back");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        add(&ledger, "CUSTOM_A").await.unwrap();
        assert_eq!(ledger.image().seq(), known + 1);
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_longer_than_the_database_takes_fails_alone() {
    /// Above what MariaDB takes in one packet by default; the others take more
    /// than any body that is accepted.
    const LONG: usize = 20 << 20;
    let Some(database) = TestDatabase::create(Kind::MariaDb).await else { return };
    let ledger = open(database.spec()).await;
    let long = ledger.write("req-long", |_: &Image| {
        let mut change = Change::new("decision");
        change.push(Record::Decision(Box::new(DecisionRow {
            id: Uuid::from_u128(1),
            request_id: "req-long".to_owned(),
            seq: 1,
            seed: 1,
            kind: "servers".to_owned(),
            outcome: "placed".to_owned(),
            header: "x".repeat(LONG).into(),
            created: TIME,
        })));
        Ok::<_, String>((change, ()))
    });
    let (long, other) = tokio::join!(long, add(&ledger, "CUSTOM_A"));
    other.unwrap();
    let Err(WriteError::Unavailable(Unavailable::TooLarge { bytes, most })) = long else {
        panic!("{long:?}");
    };
    assert!(bytes > LONG && most < LONG, "{bytes} of {most}");
    assert_eq!(ledger.trouble(), None);
    assert_eq!(names(&ledger.image()), ["CUSTOM_A".to_owned()].into());
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_process_wrote_is_read_and_proposals_are_checked_again() {
    for database in databases().await {
        let (one, other) = (open(database.spec()).await, open(database.spec()).await);
        let mut watch = other.watch();
        add(&one, "CUSTOM_A").await.unwrap();
        let refused = add(&other, "CUSTOM_A").await;
        assert!(matches!(refused, Err(WriteError::Refused(_))), "checked on an old image");
        add(&other, "CUSTOM_B").await.unwrap();
        let both = ["CUSTOM_A", "CUSTOM_B"].map(str::to_owned);
        assert_eq!(names(&other.image()), both.into());
        assert!(watch.has_changed().unwrap());
        assert_eq!(*watch.borrow_and_update(), other.image().seq());
        let entries = other.journal(0, 10).await.unwrap();
        assert_eq!(entries.iter().filter(|entry| entry.change.kind == "class").count(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_made_ready_on_a_batch_is_published_after_it_and_checked_anew_when_it_fails() {
    for database in databases().await {
        let ledger = open(database.spec()).await;
        let other = database.connect().await;
        for is_in_the_way in [false, true] {
            let known = ledger.image().seq();
            let [first, second] = ["FIRST", "SECOND"]
                .map(|name| format!("CUSTOM_{name}_{is_in_the_way}").to_uppercase());
            let mut held = Batch::begin(&other).await.unwrap();
            assert!(held.move_head(known, known + 1, "held").await.unwrap());
            let waits = tokio::spawn({
                let (ledger, first) = (ledger.clone(), first.clone());
                async move { add(&ledger, &first).await }
            });
            tokio::time::sleep(Duration::from_millis(200)).await;
            // The first is under way, and the second is checked on what it leaves.
            let seen = Arc::new(AtomicUsize::new(0));
            let follows = tokio::spawn({
                let (ledger, first, seen) = (ledger.clone(), first.clone(), seen.clone());
                let mut propose = class(second.clone());
                async move {
                    let proposal = move |image: &Image| {
                        let is_there = image.classes.get(&first).is_some();
                        seen.fetch_add(usize::from(is_there), Ordering::SeqCst);
                        propose(image)
                    };
                    ledger.write("req-test", proposal).await
                }
            });
            let touched = Arc::new(AtomicUsize::new(0));
            let counted = touched.clone();
            let touch = move |_: &mut Image| {
                counted.fetch_add(1, Ordering::SeqCst);
            };
            tokio::time::sleep(Duration::from_millis(200)).await;
            ledger.touch(touch).unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_eq!(seen.load(Ordering::SeqCst), 1);
            assert_eq!(ledger.image().seq(), known, "published before its time");
            assert!(!waits.is_finished() && !follows.is_finished());
            if is_in_the_way {
                held.commit().await.unwrap();
            } else {
                held.rollback().await.unwrap();
            }
            waits.await.unwrap().unwrap();
            follows.await.unwrap().unwrap();
            let checks = if is_in_the_way { 2 } else { 1 };
            assert_eq!(seen.load(Ordering::SeqCst), checks, "times it was seen");
            assert_eq!(touched.load(Ordering::SeqCst), 2, "the next image and the published one");
            let names = names(&ledger.image());
            assert!(names.contains(&first) && names.contains(&second));
        }
        let fresh = open(database.spec()).await;
        assert_eq!(fingerprint(&fresh.image()), fingerprint(&ledger.image()));
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_tables_cannot_be_read_nothing_is_written() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let ledger = open(database.spec()).await;
    add(&ledger, "CUSTOM_A").await.unwrap();
    let operator = database.connect().await;
    let job = "INSERT INTO cells (id, uuid, name, disabled) VALUES (1, 'junk', 'c', 0)";
    operator.writer().await.execute_unprepared(job).await.unwrap();
    for name in ["CUSTOM_B", "CUSTOM_C"] {
        let error = add(&ledger, name).await.unwrap_err();
        assert!(error.to_string().contains("'junk' is no uuid"), "{error}");
    }
    operator.writer().await.execute_unprepared("DELETE FROM cells").await.unwrap();
    add(&ledger, "CUSTOM_D").await.unwrap();
    assert_eq!(names(&ledger.image()), ["CUSTOM_A", "CUSTOM_D"].map(str::to_owned).into());
    ledger.close().await;
}

// One thread: what is spawned first is sent first.
#[tokio::test]
async fn a_batch_takes_no_more_once_its_time_is_up() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let limits = Limits { batch_time: Duration::from_millis(50), ..Limits::default() };
    let ledger = open_with(&database, limits).await;
    let slow = |number: u32, time: u64| {
        let (ledger, mut class) = (ledger.clone(), class(format!("CUSTOM_{number}")));
        async move {
            let proposal = move |image: &Image| {
                std::thread::sleep(Duration::from_millis(time));
                class(image)
            };
            ledger.write("req-test", proposal).await.unwrap();
        }
    };
    // While the first is at work, the others gather.
    let mut writes: Vec<_> = vec![tokio::spawn(slow(0, 200))];
    tokio::time::sleep(Duration::from_millis(50)).await;
    writes.extend((1..=6).map(|number| tokio::spawn(slow(number, 30))));
    for write in writes {
        write.await.unwrap();
    }
    let connection = database.connect().await;
    let rows = stowplan_db::journal_since(connection.reader(), 0, 100).await.unwrap();
    let mut batches: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *batches.entry(&row.batch).or_default() += 1);
    assert_eq!(batches.values().sum::<usize>(), 7);
    assert!(batches.values().all(|size| *size <= 2), "{batches:?}");
    // They keep their order.
    let ids: Vec<_> = ledger.image().classes.iter().map(|row| row.name.clone()).collect();
    assert_eq!(ids, (0..=6).map(|number| format!("CUSTOM_{number}")).collect::<Vec<_>>());
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_beside_the_rules_do_not_end_the_writer() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let ledger = open(database.spec()).await;
    let before = ledger.image().seq();
    ledger.touch(|_| panic!("a fault of a touch")).unwrap();
    add(&ledger, "CUSTOM_A").await.unwrap();
    assert_eq!(ledger.image().seq(), before + 1);
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_may_wait_is_turned_away_and_the_end_answers_all_that_waits() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let limits = Limits { queue: 4, ..Limits::default() };
    let ledger = open_with(&database, limits).await;
    let mut first = class("CUSTOM_0".to_owned());
    let slow = ledger.write("req-slow", move |image| {
        std::thread::sleep(Duration::from_millis(400));
        first(image)
    });
    let others = async {
        let pause = || tokio::time::sleep(Duration::from_millis(100));
        pause().await;
        let waiting: Vec<_> = (1..=4)
            .map(|number| {
                let ledger = ledger.clone();
                tokio::spawn(async move { add(&ledger, &format!("CUSTOM_{number}")).await })
            })
            .collect();
        pause().await;
        let closing = ledger.clone();
        let closed = tokio::spawn(async move { closing.close().await });
        pause().await;
        let full = add(&ledger, "CUSTOM_FULL").await.unwrap_err();
        let limit = Unavailable::Overloaded { limit: 4 };
        assert!(matches!(full, WriteError::Unavailable(unavailable) if unavailable == limit));
        for write in waiting {
            write.await.unwrap().unwrap();
        }
        closed.await.unwrap();
    };
    let (slow, ()) = tokio::join!(slow, others);
    slow.unwrap();
    assert_eq!(ledger.image().classes.iter().count(), 5);
    let late = add(&ledger, "CUSTOM_LATE").await;
    assert!(matches!(late, Err(WriteError::Unavailable(Unavailable::Closing))));
}

#[test]
fn what_a_caller_on_another_runtime_reads_ties_no_connection_to_it() {
    let multi = || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).enable_all().build().unwrap()
    };
    for kind in [Kind::Postgres, Kind::MariaDb] {
        let home = multi();
        let Some(database) = home.block_on(TestDatabase::create(kind)) else { continue };
        let ledger = home.block_on(open(database.spec()));
        let guest = multi();
        guest.block_on(async {
            let reads = (0..20).map(|_| {
                let ledger = ledger.clone();
                tokio::spawn(async move { ledger.journal(0, 10).await.unwrap().len() })
            });
            for read in reads.collect::<Vec<_>>() {
                read.await.unwrap();
            }
        });
        drop(guest);
        home.block_on(async {
            for _ in 0..20 {
                ledger.journal(0, 10).await.unwrap();
            }
            add(&ledger, "CUSTOM_A").await.unwrap();
            ledger.close().await;
        });
    }
}

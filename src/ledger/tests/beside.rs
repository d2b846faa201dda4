//! What is written beside the mutations: signs of life, bodies of decisions,
//! the trimming of decisions and of the journal; and the lock on a file.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{Op, databases, open, propose, run, seed};
use serde_json::json;
use std::path::Path;
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_ledger::{
    Change, Flushed, Image, Ledger, Limits, OpenError, OpenOptions, Quiet, Record,
    rows::{DecisionRow, RequestAnswerRow, RequestKeyRow},
};
use stowplan_model::{Micros, Uuid};

fn decision(number: u128, created: i64) -> DecisionRow {
    DecisionRow {
        id: Uuid::from_u128(number),
        request_id: format!("req-{}", number % 2),
        seq: 1,
        seed: u64::MAX,
        kind: "servers".to_owned(),
        outcome: "placed".to_owned(),
        header: json!({"hosts": ["it's \\ h"]}),
        created: Micros(created),
    }
}

async fn decide(ledger: &Ledger, row: DecisionRow) {
    let proposal = move |_: &Image| {
        let mut change = Change::new("decision");
        change.push(Record::Decision(Box::new(row.clone())));
        Ok::<_, ()>((change, ()))
    };
    ledger.write("req-test", proposal).await.unwrap();
}

async fn kept(ledger: &Ledger) -> Vec<u128> {
    let all = ledger.decisions(None, 100).await.unwrap();
    all.iter().map(|stored| stored.id.as_u128()).collect()
}

/// Keeps an answer under a key, or forgets the key.
async fn answer(ledger: &Ledger, key: u128, body: Option<&str>) {
    let (uuid, body) = (Uuid::from_u128(key), body.map(str::to_owned));
    let proposal = move |image: &Image| {
        let mut change = Change::new("request");
        let Some(body) = body.clone() else {
            change.push(Record::RequestKeyGone(uuid));
            return Ok::<_, ()>((change, ()));
        };
        let id = image.request_keys.next_id();
        let created = Micros(1);
        change.push(Record::RequestKey(RequestKeyRow { id, uuid, fingerprint: uuid, created }));
        change.push(Record::RequestAnswer(Box::new(RequestAnswerRow {
            key: id,
            status: 200,
            body,
        })));
        Ok((change, ()))
    };
    ledger.write("req-test", proposal).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_requests_go_with_their_keys() {
    for database in databases().await {
        let ledger = open(database.spec()).await;
        answer(&ledger, 7, Some("it's \\ one")).await;
        answer(&ledger, 8, Some("two")).await;
        ledger.close().await;

        let ledger = open(database.spec()).await;
        let image = ledger.image();
        let key = |number| image.request_keys.get(Uuid::from_u128(number)).unwrap().id;
        let (one, two) = (key(7), key(8));
        let found = ledger.request_answer(one).await.unwrap().unwrap();
        assert_eq!((found.status, found.body.as_str()), (200, "it's \\ one"));
        answer(&ledger, 7, None).await;
        assert_eq!(ledger.request_answer(one).await.unwrap(), None);
        assert_eq!(ledger.request_answer(two).await.unwrap().unwrap().body, "two");
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_are_kept_found_and_forgotten_the_oldest_first() {
    for database in databases().await {
        let ledger = open(database.spec()).await;
        // Four of one moment, as of one request or cycle.
        for (number, created) in [(1, 10), (2, 20), (3, 30), (4, 30), (5, 30), (6, 30)] {
            decide(&ledger, decision(number, created)).await;
        }
        assert_eq!(kept(&ledger).await, [6, 5, 4, 3, 2, 1]);
        let body: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let bodies = (1..=6).map(|number| (Uuid::from_u128(number), body.clone()));
        ledger.store_decision_bodies(bodies.collect()).await.unwrap();
        ledger.store_decision_bodies(Vec::new()).await.unwrap();
        let stored = ledger.decision(Uuid::from_u128(4)).await.unwrap().unwrap();
        assert_eq!(stored.header, decision(4, 30));
        assert_eq!(stored.body, Some(body));
        assert_eq!(ledger.decision(Uuid::from_u128(9)).await.unwrap(), None);
        let even = ledger.decisions(Some("req-0"), 2).await.unwrap();
        assert_eq!(even[1], decision(4, 30));
        assert_eq!(even.iter().map(|s| s.id.as_u128()).collect::<Vec<_>>(), [6, 4]);

        assert_eq!(ledger.trim_decisions(u64::MAX, Micros(10)).await.unwrap(), 0);
        assert_eq!(ledger.trim_decisions(u64::MAX, Micros(11)).await.unwrap(), 1);
        assert_eq!(ledger.trim_decisions(3, Micros(0)).await.unwrap(), 2);
        assert_eq!(kept(&ledger).await, [6, 5, 4]);
        assert_eq!(ledger.trim_decision_bytes(3000).await.unwrap(), 0);
        assert_eq!(ledger.trim_decision_bytes(2999).await.unwrap(), 1);
        assert_eq!(kept(&ledger).await, [6, 5]);
        assert_eq!(ledger.trim_decisions(0, Micros(0)).await.unwrap(), 2);
        assert_eq!(kept(&ledger).await, [0; 0]);
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signs_of_life_are_seen_at_once_and_kept_after_a_flush() {
    for database in databases().await {
        let ledger = open(database.spec()).await;
        ledger.write("req-seed", seed).await.unwrap();
        for number in 0..3 {
            run(&ledger, Op::Provider { name: number, parent: None }).await.unwrap();
            let host = Op::Host { provider: number, vcpus_used: None, lists: 0 };
            run(&ledger, host).await.unwrap();
        }
        let seq = ledger.image().seq();
        let names = ["host0", "host2", "nobody"].map(str::to_owned);
        ledger.heard(names.to_vec(), Micros(77)).unwrap();
        // What is sent later is done later.
        let seen = |image: &Image| {
            let of = |host: &str| image.service_of(host).unwrap().last_seen.unwrap().0;
            [of("host0"), of("host1"), of("host2")]
        };
        let now =
            ledger.write("req-look", move |image| Ok::<_, ()>((Change::nothing(), seen(image))));
        assert_eq!(now.await.unwrap(), [77, 5, 77]);
        assert_eq!(ledger.image().seq(), seq, "a sign of life is no mutation");
        let mut flushed = Flushed::new();
        ledger.flush_heard(&mut flushed).await.unwrap();
        assert_eq!(flushed.values().map(|when| when.0).collect::<Vec<_>>(), [77, 5, 77]);
        ledger.close().await;
        let fresh = open(database.spec()).await;
        assert_eq!(seen(&fresh.image()), [77, 5, 77]);
        fresh.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_forgets_and_says_so() {
    for database in databases().await {
        let ledger = open(database.spec()).await;
        ledger.write("req-seed", seed).await.unwrap();
        let known = ledger.image().seq();
        for number in 0..4 {
            run(&ledger, Op::Provider { name: number, parent: None }).await.unwrap();
        }
        let entries = ledger.journal(known, 2).await.unwrap();
        let seqs: Vec<_> = entries.iter().map(|entry| entry.seq).collect();
        assert_eq!(seqs, [known + 1, known + 2]);
        assert_eq!(entries[0].request_id, "req-test");
        let (change, ()) =
            propose(&Image::default(), &Op::Provider { name: 0, parent: None }).unwrap();
        assert_eq!(entries[0].change, change);
        assert!(entries[0].time <= entries[1].time);
        assert_eq!(ledger.trim_journal(Micros(0), None).await.unwrap(), 0);
        assert_eq!(ledger.trim_journal(Micros(i64::MAX), Some(0)).await.unwrap(), 0);
        let gone = ledger.trim_journal(Micros(i64::MAX), None).await.unwrap();
        assert_eq!(gone, known.cast_unsigned() + 3);
        let left = ledger.journal(0, 10).await.unwrap();
        assert_eq!(left.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [known + 4]);
        run(&ledger, Op::Provider { name: 9, parent: None }).await.unwrap();
        assert_eq!(ledger.image().seq(), known + 5);
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_one_process_at_a_time() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| {
        let options = OpenOptions {
            database: database.spec(),
            lock_file: Some(path.to_owned()),
            limits: Limits::default(),
        };
        async { Ledger::open(options, &mut Quiet).await }
    };
    // A directory that is not there is a mistake, not a wish.
    let nowhere = folder.path().join("missing").join("ledger.db.lock");
    let refused = open(&nowhere).await.err().unwrap();
    assert!(matches!(&refused, OpenError::Lock { .. }), "{refused}");
    assert!(!folder.path().join("missing").exists());
    let path = folder.path().join("ledger.db.lock");
    let first = open(&path).await.unwrap();
    let second = open(&path).await.err().unwrap();
    assert!(matches!(&second, OpenError::Locked { .. }), "{second}");
    first.close().await;
    open(&path).await.unwrap().close().await;
}

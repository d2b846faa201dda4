//! The lock that keeps two processes from one database of a server.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::{
    common::databases,
    writer::{add, cut},
};
use std::time::{Duration, Instant};
use stowplan_db::{Backend, ConnectSpec, Hold, Taken, testing::TestDatabase};
use stowplan_ledger::{Ledger, Limits, OpenError, OpenOptions, Quiet};

fn spec(database: &TestDatabase) -> ConnectSpec {
    let mut spec = database.spec();
    spec.hold_patience = Some(Duration::from_secs(1));
    spec
}

async fn open(database: &TestDatabase) -> Result<Ledger, OpenError> {
    let limits = Limits { retries: 1, ..Limits::default() };
    let options = OpenOptions { database: spec(database), lock_file: None, limits };
    Ledger::open(options, &mut Quiet).await
}

async fn servers() -> Vec<TestDatabase> {
    let mut all = databases().await;
    all.retain(|database| database.spec().backend != Backend::Sqlite);
    all
}

/// The lock, as soon as nobody has it.
async fn take(database: &TestDatabase) -> Hold {
    let connection = database.connect().await;
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(Taken::Ours(hold)) = connection.hold().await.unwrap() {
            return hold;
        }
        assert!(Instant::now() < until, "somebody keeps the lock");
    }
}

/// Waits until the ledger says this of why it does not write, or nothing.
async fn says(ledger: &Ledger, expected: Option<&str>) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let trouble = ledger.trouble();
        let is_said = match expected {
            Some(text) => trouble.as_ref().is_some_and(|reason| reason.contains(text)),
            None => trouble.is_none(),
        };
        if is_said {
            return;
        }
        assert!(Instant::now() < until, "it says {trouble:?}, not {expected:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_waits_and_is_refused() {
    for database in servers().await {
        let first = open(&database).await.unwrap();
        add(&first, "CUSTOM_A").await.unwrap();
        let refused = open(&database).await.err().unwrap();
        assert!(matches!(&refused, OpenError::Held { .. }), "{refused}");
        let text = refused.to_string();
        assert!(text.contains("another stowplan process") && text.contains("session"), "{text}");
        // It has not moved the head of the one that runs.
        add(&first, "CUSTOM_B").await.unwrap();
        first.close().await;
        let second = open(&database).await.unwrap();
        assert!(second.image().classes.get("CUSTOM_B").is_some());
        second.close().await;
        // One that ends without a word lets go, too.
        drop(open(&database).await.unwrap());
        open(&database).await.unwrap().close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_lock_a_process_writes_nothing_until_it_has_it_again() {
    for database in servers().await {
        let ledger = open(&database).await.unwrap();
        add(&ledger, "CUSTOM_A").await.unwrap();
        cut(&database.connect().await).await;
        let rival = take(&database).await;
        says(&ledger, Some("another stowplan process holds the database")).await;
        let refused = add(&ledger, "CUSTOM_B").await.unwrap_err().to_string();
        assert!(refused.contains("another stowplan process"), "{refused}");
        rival.release().await;
        says(&ledger, None).await;
        add(&ledger, "CUSTOM_B").await.unwrap();
        ledger.close().await;
    }
}

//! Filling an empty ledger: all or nothing, and seen by whoever was there.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{Op, databases, furniture, look::fingerprint, open, propose, run, seed};
use stowplan_db::ConnectSpec;
use stowplan_ledger::{
    Change, FillError, Filling, Image, Limits, OpenOptions, Quiet, Record, rows::ConsumerRow,
};

fn options(database: ConnectSpec) -> OpenOptions {
    OpenOptions { database, lock_file: None, limits: Limits::default() }
}

/// A small cloud without hosts of its own, as another program has it.
async fn cloud() -> Image {
    let ledger = open(ConnectSpec::in_memory()).await;
    ledger.write("req-test", seed).await.unwrap();
    let claims = (0..5).map(|consumer| Op::Claim {
        consumer,
        amounts: vec![(consumer % 3, 0, 2), (consumer % 3 + 3, 1, 1)],
        ours: false,
    });
    let parts = [
        Op::Traits { provider: 1, traits: 5 },
        Op::Aggregates { provider: 2, aggregates: 3 },
        // The child of one that was made later.
        Op::Move { provider: 0, parent: Some(2) },
    ];
    let furniture = furniture().into_iter().filter(|op| !matches!(op, Op::Host { .. }));
    for op in furniture.chain(parts).chain(claims) {
        run(&ledger, op).await.unwrap();
    }
    let image = Image::clone(&ledger.image());
    ledger.close().await;
    image
}

/// What there is to be written: names and providers, and consumers.
fn parts(image: &Image) -> (Vec<Record>, Vec<ConsumerRow>) {
    let mut consumers = Vec::new();
    let mut rest = image.dump();
    rest.retain(|record| match record {
        Record::Consumer(row) => {
            consumers.push((**row).clone());
            false
        }
        _ => true,
    });
    (rest, consumers)
}

async fn fill(filling: &mut Filling, image: &Image) {
    let (records, consumers) = parts(image);
    filling.put(records).await.unwrap();
    for page in consumers.chunks(2) {
        filling.put_consumers(page.to_vec()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_filled_in_is_there_after_the_commit() {
    let cloud = cloud().await;
    for database in databases().await {
        // Names that a start of the service would have left.
        let before = open(database.spec()).await;
        let standard = |_: &Image| {
            let mut change = Change::new("seed");
            let name = |record: &Record| matches!(record, Record::Class(row) if row.name == "VCPU");
            change.records = parts(&cloud).0.into_iter().filter(name).collect();
            let Record::Class(row) = &mut change.records[0] else { unreachable!() };
            row.id = 77;
            Ok::<_, ()>((change, ()))
        };
        let change = standard(&before.image()).unwrap();
        before.write("req-test", move |_| Ok::<_, ()>(change.clone())).await.unwrap();
        let known = before.image().seq();
        before.close().await;

        let mut filling = Filling::begin(options(database.spec())).await.unwrap();
        fill(&mut filling, &cloud).await;
        let filled = filling.load(&mut Quiet).await.unwrap();
        assert_eq!(fingerprint(filled.image()), fingerprint(&cloud));
        filled.commit().await.unwrap();

        let ledger = open(database.spec()).await;
        assert_eq!(fingerprint(&ledger.image()), fingerprint(&cloud));
        let journal = ledger.journal(known, 1).await.unwrap();
        assert_eq!(journal[0].seq, known + 2, "the journal does not tell what it lacks");
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn given_up_it_leaves_nothing() {
    let cloud = cloud().await;
    for database in databases().await {
        let mut filling = Filling::begin(options(database.spec())).await.unwrap();
        fill(&mut filling, &cloud).await;
        filling.give_up().await.unwrap();
        let mut filling = Filling::begin(options(database.spec())).await.unwrap();
        fill(&mut filling, &cloud).await;
        filling.load(&mut Quiet).await.unwrap().give_up().await.unwrap();
        let mut filling = Filling::begin(options(database.spec())).await.unwrap();
        fill(&mut filling, &cloud).await;
        drop(filling);
        let ledger = open(database.spec()).await;
        assert!(ledger.image().dump().is_empty());
        ledger.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_that_holds_something_is_not_filled() {
    for database in databases().await {
        let ledger = open(database.spec()).await;
        ledger.write("req-test", seed).await.unwrap();
        run(&ledger, Op::Provider { name: 0, parent: None }).await.unwrap();
        ledger.close().await;
        let refused = Filling::begin(options(database.spec())).await.err().unwrap();
        let FillError::NotEmpty { present } = refused else { panic!("{refused}") };
        let expected =
            [("custom resource classes", 1), ("custom traits", 8), ("resource providers", 1)];
        assert_eq!(present, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_was_there_reads_everything_before_it_writes() {
    let cloud = cloud().await;
    for database in databases().await {
        let old = open(database.spec()).await;
        let mut filling = Filling::begin(options(database.spec())).await.unwrap();
        fill(&mut filling, &cloud).await;
        filling.load(&mut Quiet).await.unwrap().commit().await.unwrap();
        // Its image is empty, where this would be a new provider.
        let again = |image: &Image| propose(image, &Op::Provider { name: 0, parent: None });
        let refused = old.write("req-test", again).await;
        assert!(refused.is_err(), "it wrote on an image of before");
        assert_eq!(fingerprint(&old.image()), fingerprint(&cloud));
        old.close().await;
    }
}

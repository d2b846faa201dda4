//! What a killed process left in a database server is read by its successor, or
//! never happens.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::open;
use std::time::Duration;
use stowplan_db::{
    Batch, Script, Written,
    entity::resource_class,
    read_head,
    testing::{Kind, TestDatabase},
};

/// A class that an orphaned transaction adds, with its journal row.
const LEFT: [&str; 2] = [
    "INSERT INTO resource_classes (id, name, created_us, updated_us) VALUES (1, 'CUSTOM_LEFT', 1, 1);",
    "INSERT INTO journal (seq, batch, version, kind, request_id, time_us, body) \
     VALUES (2, 'orphan', 1, 'test', 'req-orphan', 1, '[]');",
];

async fn each_server<F: Future<Output = ()>>(test: impl Fn(TestDatabase) -> F) {
    for kind in [Kind::Postgres, Kind::MariaDb] {
        match TestDatabase::create(kind).await {
            Some(database) => test(database).await,
            None => eprintln!("skipped: no {kind:?} named in the environment"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_under_way_is_waited_for() {
    each_server(|database| async move {
        open(database.spec()).await.close().await;
        let other = database.connect().await;
        let known = read_head(&*other.writer().await).await.unwrap().seq;
        assert_eq!(known, 1);
        let mut orphan = Batch::begin(&other).await.unwrap();
        assert!(orphan.move_head(known, known + 1, "orphan").await.unwrap());
        for text in LEFT {
            orphan.execute_text(text).await.unwrap();
        }
        let successor = tokio::spawn(open(database.spec()));
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(!successor.is_finished(), "it read beside the commit");
        orphan.commit().await.unwrap();
        let successor = successor.await.unwrap();
        assert!(successor.image().classes.get("CUSTOM_LEFT").is_some());
        successor.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_comes_late_gives_up() {
    each_server(|database| async move {
        let gone = open(database.spec()).await;
        let known = gone.image().seq();
        let successor = open(database.spec()).await;
        let other = database.connect().await;
        let mut late = Script::new(&other);
        let name = "CUSTOM_LEFT".to_owned();
        late.insert([resource_class::Model { id: 1, name, created_us: 1, updated_us: 1 }]);
        let late = late.finish().unwrap();
        let written = other.write(known, known + 1, "orphan", late).await.unwrap();
        assert_eq!(written, Written::HeadMoved);
        assert!(successor.image().classes.get("CUSTOM_LEFT").is_none());
        successor.close().await;
        gone.close().await;
    })
    .await;
}

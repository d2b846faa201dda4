//! What is bound stays bound; the service's own loop.

use crate::cloud::Cloud;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::time::Duration;
use stowplan_batch::life::JobPhase;
use stowplan_batch::store::ReportedState;
use stowplan_batch::store::take_lead;
use stowplan_db::testing::{Kind, TestDatabase};
use tokio::sync::watch;

#[tokio::test(flavor = "multi_thread")]
async fn binds_outlive_the_process() {
    let database = TestDatabase::create(Kind::Sqlite).await.unwrap();
    let spec = database.spec();
    let cloud = Cloud::on(spec.clone()).await;
    let host = cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(r#"{"tasks": [{"count": 3, "requests": {"cpu": 1}}]}"#).await;
    cloud.cycle().await;
    let before = (cloud.job(job), cloud.tasks(job));
    cloud.ledger.close().await;
    let cloud = Cloud::on(spec).await;
    assert_eq!((cloud.job(job), cloud.tasks(job)), before);
    assert_eq!(cloud.used(host, "VCPU"), 3);
    cloud.audit();
    let next = cloud.submit(r#"{"tasks": [{"count": 2, "requests": {"cpu": 1}}]}"#).await;
    assert_eq!(cloud.cycle().await.binds, 0, "only one processor is left");
    cloud.report_all(job, ReportedState::Succeeded).await;
    assert_eq!(cloud.cycle().await.binds, 2);
    assert_eq!(cloud.states(next).get("Bound"), Some(&2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loop_places_jobs_as_they_come_and_stops_when_told() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let (stop, stopped) = watch::channel(false);
    let settings = Arc::new(ArcSwap::from_pointee(cloud.settings.clone()));
    let running = stowplan_batch::run(
        cloud.ledger.clone(),
        settings,
        cloud.clock(),
        stowplan_batch::plugins::Outside::default(),
        Arc::default(),
        stopped,
    );
    let running = tokio::spawn(running);
    for _ in 0..3 {
        let job = cloud.submit(r#"{"tasks": [{"count": 4, "requests": {"cpu": 1}}]}"#).await;
        placed(&cloud, job).await;
        cloud.report_all(job, ReportedState::Succeeded).await;
        assert_eq!(cloud.job(job).summary.phase, JobPhase::Completed);
    }
    stop.send_replace(true);
    tokio::time::timeout(Duration::from_secs(5), running).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_be_run_with_are_named() {
    let cloud = Cloud::new().await;
    let mut settings = cloud.settings.clone();
    settings.batch.actions = vec!["alocate".to_owned()];
    let fault = stowplan_batch::driver::Plant::new(&settings).err().unwrap().to_string();
    assert!(fault.contains("[batch] actions: action \"alocate\" does not exist"), "{fault}");
    assert!(fault.contains("the nearest is \"allocate\""), "{fault}");
    settings.batch.actions = vec!["allocate".to_owned()];
    settings.batch.tiers = vec![vec!["gangs".to_owned()]];
    let fault = stowplan_batch::driver::Plant::new(&settings).err().unwrap().to_string();
    assert!(fault.contains("the nearest is \"gang\""), "{fault}");
    settings.batch.tiers = vec![vec!["gang".to_owned(), "binpack".to_owned()]];
    let weights = [("binpack.cpu".to_owned(), "lots".to_owned())].into();
    settings.batch_plugins.insert("binpack".to_owned(), weights);
    let fault = stowplan_batch::driver::Plant::new(&settings).err().unwrap().to_string();
    assert_eq!(fault, "[batch:binpack] binpack.cpu = lots: expected a whole number");
}

async fn placed(cloud: &Cloud, job: stowplan_model::Uuid) {
    for _ in 0..500 {
        if cloud.states(job).get("Bound") == Some(&4) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the job was not placed: {:?}", cloud.job(job));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_led_before_writes_nothing_more() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 2}}]}"#).await;
    let now = cloud.now();
    let newer = cloud.act(move |image| Ok(take_lead(image, now))).await.unwrap();
    assert!(newer > cloud.epoch);
    let before = cloud.image().seq();
    let report = cloud.cycle().await;
    assert_eq!((report.binds, report.refusals), (0, 1));
    assert_eq!(cloud.image().seq(), before, "not even what it says of jobs");
    assert_eq!(cloud.states(job).get("Pending"), Some(&1));
    let superseded = cloud.epoch.check(&cloud.image()).unwrap_err().to_string();
    assert_eq!(superseded, "another process leads batch cycles since (epoch 2, this one's is 1)");
    // The new leader goes on at once.
    let mut cloud = cloud;
    cloud.epoch = newer;
    assert_eq!(cloud.cycle().await.binds, 1);
    cloud.audit();
}

//! Requests with a key of their sender's.

use serde_json::{Value, json};
use stowplan_model::Micros;
use stowplan_scheduler::select::read_request;
use stowplan_scheduler::{Answer, Call, SchedulerError};

use crate::cloud::{CALL, Cloud, NOW, host, refused, small, small_with};

const OWNER: (&str, &str) = ("project", "user");

impl Cloud {
    pub async fn once(
        &self,
        call: Call<'_>,
        key: &str,
        asked: Value,
    ) -> Result<Answer, SchedulerError> {
        let asked = read_request(asked.to_string().as_bytes()).unwrap();
        refused(self.scheduler.select_destinations_once(call, asked, OWNER, key).await)
    }
}

fn later(seconds: i64) -> Call<'static> {
    Call { now: Micros(NOW.0 + seconds * 1_000_000), ..CALL }
}

#[tokio::test]
async fn the_same_request_is_answered_once() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 4).await;
    let Answer::Now(first) = cloud.once(CALL, "k", small()).await.unwrap() else {
        panic!("nothing was answered before");
    };
    let written = serde_json::to_string(&first).unwrap();
    assert_eq!(cloud.once(CALL, "k", small()).await.unwrap(), Answer::Before(written));
    assert_eq!(cloud.image().consumers.len(), 1);
    // Another body, another key, another owner.
    let other = cloud.once(CALL, "k", small_with(json!({"count": 2}))).await.unwrap_err();
    assert_eq!(other.status(), 422);
    assert_eq!(
        other.to_string(),
        r#"Idempotency-Key is "k": expected one that no other request was sent with"#
    );
    assert!(matches!(cloud.once(CALL, "l", small()).await.unwrap(), Answer::Now(_)));
    let asked = read_request(small().to_string().as_bytes()).unwrap();
    let theirs = cloud.scheduler.select_destinations_once(CALL, asked, ("p", "u"), "k").await;
    assert!(matches!(refused(theirs).unwrap(), Answer::Now(_)));
    assert_eq!(cloud.image().consumers.len(), 3);
    for key in ["", &"k".repeat(256)] {
        let error = cloud.once(CALL, key, small()).await.unwrap_err();
        assert_eq!(error.status(), 400);
        assert!(error.to_string().starts_with("Idempotency-Key is"), "{error}");
    }
}

#[tokio::test]
async fn refusals_and_dry_runs_are_answered_once_too() {
    for max_rows in [0, 100] {
        let cloud = Cloud::with(|settings| settings.decisions.max_rows = max_rows).await;
        let first = cloud.once(CALL, "k", small()).await.unwrap_err();
        cloud.report("h1", host(4)).await;
        assert_eq!(cloud.once(CALL, "k", small()).await.unwrap_err(), first);
        let dry = small_with(json!({"dry_run": true}));
        assert!(matches!(cloud.once(CALL, "d", dry.clone()).await.unwrap(), Answer::Now(_)));
        cloud.select(small_with(json!({"flavor": {"vcpus": 4, "memory_mb": 64}}))).await;
        assert!(matches!(cloud.once(CALL, "d", dry).await.unwrap(), Answer::Before(_)));
    }
}

#[tokio::test]
async fn keys_are_forgotten() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let heard = |seconds| cloud.scheduler.heartbeat(vec!["h1".to_owned()], later(seconds).now);
    cloud.once(CALL, "k", small()).await.unwrap();
    cloud.once(later(1), "l", small()).await.unwrap();
    assert_eq!(refused(cloud.scheduler.forget_request_keys(later(3600)).await).unwrap(), 0);
    assert!(matches!(cloud.once(later(3600), "k", small()).await.unwrap(), Answer::Before(_)));
    // Its time is over, whether it is forgotten already or not.
    heard(3601).unwrap();
    // That is told to the image beside the call.
    while cloud.image().service_of("h1").unwrap().last_seen != Some(later(3601).now) {
        tokio::task::yield_now().await;
    }
    let other = small_with(json!({"flavor": {"vcpus": 2, "memory_mb": 64}}));
    assert!(matches!(cloud.once(later(3601), "k", other).await.unwrap(), Answer::Now(_)));
    assert_eq!(cloud.image().request_keys.len(), 2);
    assert_eq!(refused(cloud.scheduler.forget_request_keys(later(3602)).await).unwrap(), 1);
    assert_eq!(cloud.image().request_keys.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_at_once_get_one_answer() {
    for round in 0..20 {
        let cloud = Cloud::new().await;
        cloud.hosts("h", 2, 4).await;
        let asked = read_request(small().to_string().as_bytes()).unwrap();
        let calls = (0..8).map(|_| {
            let (scheduler, asked) = (cloud.scheduler.clone(), asked.clone());
            tokio::spawn(async move {
                refused(scheduler.select_destinations_once(CALL, asked, OWNER, "k").await).unwrap()
            })
        });
        let (mut now, mut before) = (Vec::new(), Vec::new());
        for call in calls.collect::<Vec<_>>() {
            match call.await.unwrap() {
                Answer::Now(answer) => now.push(serde_json::to_string(&answer).unwrap()),
                Answer::Before(answer) => before.push(answer),
            }
        }
        assert_eq!((now.len(), before.len()), (1, 7), "{round}");
        assert!(before.iter().all(|answer| *answer == now[0]));
        assert_eq!(cloud.image().consumers.len(), 1);
    }
}

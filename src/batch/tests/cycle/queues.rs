//! Queues: the rules of admission, and what closing and draining do.

use crate::cloud::Cloud;
use stowplan_batch::BatchError;
use stowplan_batch::spec::read_queue;
use stowplan_batch::store::{
    QueueState, ReportedState, delete_queue, queue_state, set_queue_state, update_queue,
};

/// Queues eng (10 cores deserved, 8 guaranteed, 20 at most) with dev and qa
/// below it; play with a job; 64 cores in all.
async fn house() -> Cloud {
    let cloud = Cloud::new().await;
    for host in ["a", "b"] {
        cloud.host(host, 32, 1.0).await;
    }
    for queue in [
        r#"{"name": "eng", "capability": {"cpu": 20}, "deserved": {"cpu": 10},
            "guarantee": {"resource": {"cpu": 8}}}"#,
        r#"{"name": "dev", "parent": "eng", "deserved": {"cpu": 6}}"#,
        r#"{"name": "qa", "parent": "eng", "capability": {"cpu": 5},
            "guarantee": {"resource": {"cpu": 4}}}"#,
        r#"{"name": "play"}"#,
    ] {
        cloud.queue(queue).await.unwrap();
    }
    cloud.submit(r#"{"queue": "play", "tasks": [{"requests": {"cpu": 1}}]}"#).await;
    cloud
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_queue_can_be() {
    let cloud = house().await;
    for (body, part) in [
        ("{}", "name is null: expected the name of the queue"),
        (r#"{"name": "a/b"}"#, "name is \"a/b\""),
        (r#"{"name": "a:b"}"#, "name is \"a:b\": expected a name without :"),
        (r#"{"name": "eng"}"#, "there is a queue \"eng\" already"),
        (r#"{"name": "x", "weigth": 2}"#, "is weight meant?"),
        (r#"{"name": "x", "weight": 0}"#, "weight is 0: expected 1 to 1000000"),
        (r#"{"name": "x", "strategy": "strict"}"#, "strategy is \"strict\""),
        (
            r#"{"name": "x", "guarantee": {"percentage": {"value": 0.5}}}"#,
            "guarantee.percentage is",
        ),
        (r#"{"name": "x", "guarantee": {"policy": "guaranteed"}}"#, "guarantee.policy is"),
        (r#"{"name": "x", "capability": {"fpga": 1}}"#, "capability.fpga is \"1\""),
        (r#"{"name": "x", "capability": {"cpu": "lots"}}"#, "capability.cpu is \"lots\""),
        (r#"{"name": "x", "capability": {"cpu": 0}}"#, "capability.cpu is \"0\""),
        (
            r#"{"name": "x", "capability": {"cpu": 1}, "guarantee": {"resource": {"cpu": 4}}}"#,
            "guarantee.resource.cpu is \"4\": expected at most 1, its capability.cpu",
        ),
        (
            r#"{"name": "x", "deserved": {"cpu": 3}, "guarantee": {"resource": {"cpu": 4}}}"#,
            "guarantee.resource.cpu is \"4\": expected at most 3, its deserved.cpu",
        ),
        (
            r#"{"name": "x", "deserved": {"cpu": 3}, "capability": {"cpu": "2500m"}}"#,
            "deserved.cpu is \"3\": expected at most 2500m, its capability.cpu",
        ),
        (r#"{"name": "x", "parent": "nobody"}"#, "parent is \"nobody\""),
        (r#"{"name": "x", "parent": "x"}"#, "parent is \"x\""),
        (r#"{"name": "x", "parent": "play"}"#, "expected a queue without jobs"),
        (
            r#"{"name": "x", "parent": "eng", "deserved": {"cpu": 5}}"#,
            "the queues below \"eng\" have at most its 10 together, not 11",
        ),
        (
            r#"{"name": "x", "parent": "eng", "guarantee": {"resource": {"cpu": 5}}}"#,
            "the queues below \"eng\" have at most its 8 together, not 9",
        ),
        (
            r#"{"name": "x", "parent": "dev", "capability": {"cpu": 21}}"#,
            "expected at most 20, the capability of \"eng\" above it",
        ),
        (
            r#"{"name": "x", "guarantee": {"resource": {"cpu": 57}}}"#,
            "at most what the hosts have: 64 VCPU, not 65",
        ),
        (r#"{"name": "x", "hierarchy": "root//x"}"#, "hierarchy is"),
        (
            r#"{"name": "x", "hierarchy": "root/x", "hierarchy_weights": "1"}"#,
            "hierarchy_weights is \"1\"",
        ),
    ] {
        let error = cloud.queue(body).await.unwrap_err().to_string();
        assert!(error.contains(part), "{body}: {error}");
    }
    assert_eq!(cloud.image().batch.queues().count(), 6, "none of them left a trace");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_queue_can_become() {
    let cloud = house().await;
    for (name, body, part) in [
        ("nobody", "{}", "there is no queue \"nobody\""),
        ("dev", r#"{"name": "ops"}"#, "the name of a queue stays"),
        ("root", r#"{"capability": {"cpu": 1}}"#, "capability is \"given\""),
        ("root", r#"{"parent": "eng"}"#, "parent is \"given\""),
        ("eng", r#"{"parent": "qa"}"#, "expected a queue that is not below \"eng\""),
        ("eng", r#"{"deserved": {"cpu": 5}}"#, "expected at most 5, its deserved.cpu"),
        (
            "eng",
            r#"{"deserved": {"cpu": 5}, "guarantee": {}}"#,
            "expected at least 6, as those below it have",
        ),
        (
            "eng",
            r#"{"capability": {"cpu": 4}, "deserved": {}, "guarantee": {}}"#,
            "expected at least 5, the capability of \"qa\" below it",
        ),
        ("qa", r#"{"capability": {"cpu": 3}}"#, "expected at most 3, its capability.cpu"),
    ] {
        let error = cloud.patch(name, body).await.unwrap_err().to_string();
        assert!(error.contains(part), "{name} {body}: {error}");
    }
    cloud.patch("dev", r#"{"deserved": {"cpu": 10}, "weight": 7}"#).await.unwrap();
    let image = cloud.image();
    let row = image.batch.queue("dev").unwrap();
    assert_eq!((row.generation, &row.spec["deserved"]["cpu"]), (1, &serde_json::json!("10")));
    assert_eq!(row.spec["parent"], "eng", "what is not given stays");
    let (request, dims, now) = (read_queue(b"{\"weight\": 8}").unwrap(), cloud.dims(), cloud.now());
    let stale = update_queue(&image, "dev", &request, Some(0), &dims, now).unwrap_err();
    assert_eq!(stale.to_string(), "queue \"dev\" is at generation 1, not 0: read it again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_goes_when_nothing_hangs_on_it() {
    let cloud = house().await;
    cloud.cycle().await;
    let delete = |name: &'static str| cloud.act(move |image| delete_queue(image, name));
    for (name, part) in [
        ("root", "it always exists"),
        ("default", "it always exists"),
        ("eng", "it has queues below it: dev, qa"),
        ("play", "its tasks hold room on hosts: "),
        ("nobody", "there is no queue"),
    ] {
        let error = delete(name).await.unwrap_err().to_string();
        assert!(error.contains(part), "{name}: {error}");
    }
    for name in ["dev", "qa", "eng"] {
        delete(name).await.unwrap();
    }
    let waiting = cloud.submit(r#"{"name": "big", "tasks": [{"requests": {"cpu": 99}}]}"#).await;
    cloud.queue(r#"{"name": "late"}"#).await.unwrap();
    cloud
        .submit(r#"{"name": "bigger", "queue": "late", "tasks": [{"requests": {"cpu": 99}}]}"#)
        .await;
    let error = delete("late").await.unwrap_err().to_string();
    assert!(error.contains("jobs wait in it: bigger"), "{error}");
    assert_eq!(cloud.states(waiting).get("Pending"), Some(&1));
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_queues_place_nothing_and_drained_ones_empty_themselves() {
    let cloud = house().await;
    let set = |name: &'static str, state| {
        let now = cloud.now();
        cloud.act(move |image| set_queue_state(image, name, state, now))
    };
    let job = cloud.submit(r#"{"queue": "dev", "tasks": [{"count": 2, "requests": {"cpu": 1}}]}"#);
    let job = job.await;
    cloud.cycle().await;
    assert_eq!(cloud.states(job).get("Bound"), Some(&2));
    // The queue above is closed: so are those below.
    set("eng", QueueState::Closed).await.unwrap();
    assert_eq!(queue_state(&cloud.image(), "dev"), "Closing");
    assert_eq!(queue_state(&cloud.image(), "qa"), "Closed");
    let refused = stowplan_batch::store::submit(
        &cloud.image(),
        &stowplan_batch::store::Submission {
            uuid: crate::cloud::fresh(),
            namespace: "project".to_owned(),
            name: "late".to_owned(),
            queue: "dev".to_owned(),
            suspend: false,
            key: None,
            spec: cloud.job(job).spec.unwrap(),
        },
        cloud.now(),
    );
    assert!(matches!(refused, Err(BatchError::QueueTakesNoJobs { .. })), "{refused:?}");
    assert_eq!(cloud.states(job).get("Bound"), Some(&2), "what has its place keeps it");

    set("eng", QueueState::Drained).await.unwrap();
    assert_eq!(cloud.states(job).get("Releasing"), Some(&2));
    cloud.report_all(job, ReportedState::Released).await;
    assert_eq!(cloud.states(job).get("Pending"), Some(&2));
    cloud.cycle().await;
    assert_eq!(cloud.states(job).get("Pending"), Some(&2));
    let seq = cloud.image().seq();
    set("eng", QueueState::Drained).await.unwrap();
    assert_eq!(cloud.image().seq(), seq, "doing it again changes nothing");
    set("eng", QueueState::Open).await.unwrap();
    cloud.cycle().await;
    assert_eq!(cloud.states(job).get("Bound"), Some(&2));
    cloud.audit();
}

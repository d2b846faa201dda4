//! Calls of the message bus: kept with their answers, undone when nobody takes them.

use serde_json::{Value, json};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::Call;
use stowplan_scheduler::select::{BusCall, CallAnswer, call_uuid, read_request};

use crate::cloud::{CALL, Cloud, NOW, host, small_with, uuid};

impl Cloud {
    async fn called(&self, msg_id: &str, asked: Value) -> CallAnswer {
        let asked = read_request(asked.to_string().as_bytes()).unwrap();
        let bus = BusCall {
            msg_id: msg_id.to_owned(),
            unique_id: String::new(),
            reply_queue: "reply".to_owned(),
            write: Box::new(|selections| selections[0].destination.host.clone()),
        };
        let answer = self.scheduler.answer_call(CALL, asked, ("project", "user"), bus).await;
        answer.unwrap()
    }

    fn holds(&self, consumer: Uuid) -> usize {
        self.image().consumers.get(consumer).map_or(0, |held| held.allocations.len())
    }
}

fn server(number: u128) -> Value {
    small_with(json!({"instance_uuids": [uuid(number)]}))
}

#[tokio::test]
async fn a_call_is_answered_once() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let first = cloud.called("a", server(1)).await;
    assert_eq!((first.answer.as_str(), first.repeated), ("h1", false));
    assert_eq!(first.kept, Some(call_uuid("a")));
    let again = cloud.called("a", server(1)).await;
    assert_eq!((again.answer, again.repeated, again.kept), (first.answer, true, first.kept));
    let dry = cloud.called("b", small_with(json!({"dry_run": true}))).await;
    assert_eq!((dry.answer.as_str(), dry.kept), ("h1", None));
    assert_eq!(cloud.image().calls.len(), 1);
}

#[tokio::test]
async fn what_reaches_nobody_is_undone_unless_it_may_be_known() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    for (number, maybe_known, left) in [(1, false, 0), (2, true, 3)] {
        let call = cloud.called(&number.to_string(), server(number)).await.kept.unwrap();
        let undone = cloud.scheduler.undo_call(CALL, call, maybe_known).await.unwrap();
        assert_eq!(cloud.holds(uuid(number)), left);
        assert_eq!((undone.released.len(), undone.kept.len()), (1 - left / 3, left / 3));
        // The second time there is nothing to be done.
        let again = cloud.scheduler.undo_call(CALL, call, false).await.unwrap();
        assert_eq!(again, Default::default());
        assert_eq!(cloud.holds(uuid(number)), left);
    }
    let image = cloud.image();
    let row = image.calls.get(call_uuid("2")).unwrap();
    assert!(row.delivered && image.calls.len() == 1);
    let stays = row.claims[0].stays.as_deref();
    assert_eq!(stays, Some("its answer may have reached the caller before a restart"));
}

#[tokio::test]
async fn an_undo_that_does_not_fit_any_more_ends_with_its_reason() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(8)).await;
    let flavor = json!({"vcpus": 4, "memory_mb": 1024, "root_gb": 1});
    let asked = |more: Value| {
        let mut asked = small_with(more);
        asked["flavor"] = flavor.clone();
        asked["instance_uuids"] = json!([uuid(1)]);
        asked
    };
    cloud.select(asked(json!({}))).await;
    // It is moved to another host, and holds both for a while.
    cloud.report("h2", host(8)).await;
    let call = cloud.called("move", asked(json!({"ignore_hosts": ["h1"]}))).await.kept.unwrap();
    assert_eq!(cloud.holds(uuid(1)), 6);
    // What it held before would not be allowed now.
    let mut report = host(8);
    report["inventory"] = json!({"VCPU": {"total": 8, "max_unit": 2},
        "MEMORY_MB": {"total": 8192}, "DISK_GB": {"total": 1000}});
    cloud.report("h1", report).await;
    let undone = cloud.scheduler.undo_call(CALL, call, false).await.unwrap();
    assert!(undone.released.is_empty());
    let (consumer, reason) = &undone.kept[0];
    assert!(*consumer == uuid(1) && reason.starts_with("what was there before does not fit"));
    assert_eq!(cloud.holds(uuid(1)), 6);
    let image = cloud.image();
    let row = image.calls.get(call).unwrap();
    assert_eq!((row.delivered, row.claims[0].stays.as_ref()), (true, Some(reason)));
}

#[tokio::test]
async fn deliveries_are_noted_beside_the_journal_and_missing_queues_in_it() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(8)).await;
    let later = Call { now: Micros(NOW.0 + 5), ..CALL };
    let mut calls = Vec::new();
    for number in 1..=3 {
        calls.push(cloud.called(&number.to_string(), server(number)).await.kept.unwrap());
    }
    let before = cloud.image().seq();
    cloud.scheduler.calls_delivered(&calls[..2]).await.unwrap();
    cloud.scheduler.call_missing(calls[2], later.now).await.unwrap();
    let image = cloud.image();
    assert_eq!(image.seq(), before + 1);
    let row = |at: usize| image.calls.get(calls[at]).unwrap();
    assert!(row(0).delivered && row(1).delivered && !row(2).delivered);
    assert!(row(2).was_missing() && !row(0).was_missing());
    // What is done with is forgotten, the rest is not.
    assert_eq!(cloud.scheduler.forget_calls(later.now, 100).await.unwrap(), 2);
    assert_eq!(cloud.scheduler.forget_calls(later.now, 100).await.unwrap(), 0);
    assert_eq!(cloud.image().calls.len(), 1);
}

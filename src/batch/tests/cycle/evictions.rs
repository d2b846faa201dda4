//! Tasks that leave for others: nominations, holds, and the hand-over of room.

use crate::cloud::Cloud;
use stowplan_batch::life::{JobPhase, TaskState};
use stowplan_batch::store::{Cause, ReportedState, TaskReport, fence};
use stowplan_batch::views::TaskView;
use stowplan_model::Uuid;
use stowplan_model::host::HostReport;

/// Queues a and b that deserve 5 cores each and may hold 10, on one host of 11;
/// a runs five tasks of 2, of which it needs 2.
async fn borrowed() -> (Cloud, Uuid, Uuid) {
    let cloud = Cloud::new().await;
    let host = cloud.host("h", 11, 1.0).await;
    for name in ["a", "b"] {
        let queue = format!(
            r#"{{"name": "{name}", "deserved": {{"cpu": 5}}, "capability": {{"cpu": 10}}}}"#
        );
        cloud.queue(&queue).await.unwrap();
    }
    let a = cloud.submit(&five("a")).await;
    cloud.cycle().await;
    assert_eq!(cloud.states(a).get("Bound"), Some(&5), "{:?}", cloud.job(a));
    cloud.report_all(a, ReportedState::Running).await;
    (cloud, host, a)
}

fn five(queue: &str) -> String {
    format!(
        r#"{{"queue": "{queue}", "min_available": 2,
            "tasks": [{{"count": 5, "requests": {{"cpu": 2}}}}]}}"#
    )
}

fn in_state(cloud: &Cloud, job: Uuid, state: TaskState) -> Vec<TaskView> {
    cloud.tasks(job).into_iter().filter(|task| task.state == state).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_borrowed_goes_back_to_whom_it_is_due() {
    let (cloud, host, a) = borrowed().await;
    let b = cloud.submit(&five("b")).await;
    cloud.cycle().await;
    let victims = in_state(&cloud, a, TaskState::Releasing);
    assert_eq!(victims.len(), 2, "{:#?}", cloud.job(b));
    assert!(victims.iter().all(|task| task.leaving == Some(Cause::Evicted)));
    let nominated: Vec<TaskView> =
        cloud.tasks(b).into_iter().filter(|task| task.nominated_host.is_some()).collect();
    assert_eq!(nominated.len(), 2);
    assert!(nominated.iter().all(|task| task.state == TaskState::Pending));
    // The core that was free is held: nobody else takes it.
    assert_eq!(cloud.used(host, "VCPU"), 11);
    assert!(cloud.claim(host, 1).await.is_err());
    // Further cycles evict nobody else.
    for _ in 0..3 {
        cloud.cycle().await;
        assert_eq!(in_state(&cloud, a, TaskState::Releasing).len(), 2);
    }
    cloud.release(&victims[0]).await;
    assert!(cloud.claim(host, 1).await.is_err(), "the room is promised");
    assert_eq!(cloud.states(b).get("Bound"), None, "no gang in part");
    cloud.release(&victims[1]).await;
    // In the very mutation in which the last one left.
    assert_eq!(cloud.states(b).get("Bound"), Some(&2));
    assert_eq!(cloud.job(b).summary.phase, JobPhase::Running);
    assert_eq!(cloud.used(host, "VCPU"), 10);
    cloud.audit();
    for _ in 0..3 {
        cloud.cycle().await;
    }
    let held = |job| cloud.tasks(job).iter().filter(|task| task.host.is_some()).count();
    assert_eq!((held(a), held(b)), (3, 2), "and all is quiet");
    let back = in_state(&cloud, a, TaskState::Pending);
    assert_eq!((back.len(), back[0].retries), (2, 0), "an eviction is no failure");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_cancelled_or_too_late_gives_the_room_back() {
    for cancel in [true, false] {
        let (cloud, host, a) = borrowed().await;
        let b = cloud.submit(&five("b")).await;
        cloud.cycle().await;
        let victims = in_state(&cloud, a, TaskState::Releasing);
        cloud.release(&victims[0]).await;
        assert_eq!(cloud.used(host, "VCPU"), 11);
        if cancel {
            cloud.cancel(b, false).await.unwrap();
        } else {
            cloud.pass(900);
            cloud.sweep().await;
            let reason = cloud.tasks(b)[0].reason.clone().unwrap();
            assert_eq!(reason, "others did not leave within [batch] nomination_timeout");
        }
        assert_eq!(cloud.used(host, "VCPU"), 8, "four tasks hold theirs");
        assert!(cloud.tasks(b).iter().all(|task| task.nominated_host.is_none()));
        cloud.audit();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn room_that_is_left_as_its_heir_ends_is_free() {
    let cloud = Cloud::new().await;
    // There is no place for a seventh task, so nothing is held before one leaves.
    let more = HostReport { max_tasks: Some(6), ..HostReport::default() };
    let host = cloud.report("h", 12, 1.0, more).await;
    for name in ["a", "b"] {
        let queue = format!(
            r#"{{"name": "{name}", "deserved": {{"cpu": 5}}, "capability": {{"cpu": 10}}}}"#
        );
        cloud.queue(&queue).await.unwrap();
    }
    let a = cloud.submit(&five("a")).await;
    cloud.cycle().await;
    cloud.report_all(a, ReportedState::Running).await;
    let other = cloud.host("other", 2, 1.0).await;
    let b = r#"{"queue": "b", "on_task_failure": "fail_job",
        "tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#;
    let b = cloud.submit(b).await;
    cloud.cycle().await;
    cloud.report_all(b, ReportedState::Running).await;
    // One of two loses its place to somebody else, and others have to leave for it.
    let now = cloud.now();
    cloud.act(move |image| Ok(fence(image, &[other], now))).await.unwrap();
    cloud.claim(other, 2).await.unwrap();
    cloud.cycle().await;
    let runs = in_state(&cloud, b, TaskState::Running).remove(0);
    let victim = in_state(&cloud, a, TaskState::Releasing).remove(0);
    let report = |task: &TaskView, state| TaskReport {
        task: task.id,
        attempt: task.attempt,
        state,
        exit_code: None,
        message: None,
    };
    // In one mutation the room gets free for a task whose job ends in it.
    let reports = [(&victim, ReportedState::Released), (&runs, ReportedState::Failed)];
    cloud.task_reports(reports.map(|(task, state)| report(task, state)).to_vec()).await;
    assert_eq!(cloud.job(b).summary.phase, JobPhase::Failed);
    assert_eq!(cloud.used(host, "VCPU"), 8, "four tasks hold theirs");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_queue_goes_above_its_capability() {
    let cloud = Cloud::new().await;
    cloud.host("h", 64, 1.0).await;
    cloud.queue(r#"{"name": "q", "capability": {"cpu": 10}}"#).await.unwrap();
    let asking =
        |cpus: u32| format!(r#"{{"queue": "q", "tasks": [{{"requests": {{"cpu": {cpus}}}}}]}}"#);
    let used = cloud.submit(&asking(9)).await;
    cloud.cycle().await;
    assert_eq!(cloud.states(used).get("Bound"), Some(&1));
    let large = cloud.submit(&asking(10)).await;
    let small = cloud.submit(&asking(1)).await;
    cloud.cycle().await;
    assert_eq!(cloud.states(small).get("Bound"), Some(&1));
    assert_eq!(cloud.states(large).get("Pending"), Some(&1));
    let why = cloud.job(large).summary.conditions[0].message.clone();
    assert!(why.contains("capacity: queue q: of 10 cpu"), "{why}");
    let explained =
        stowplan_batch::explain::queue(&cloud.image(), &cloud.settings, "q", cloud.now());
    let explained = explained.unwrap().unwrap();
    assert_eq!(explained.waiting.len(), 1);
    assert_eq!(explained.waiting[0].position, Some(1));
    let reasons: Vec<&str> =
        explained.waiting[0].reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!(reasons[0], "queue q may hold 10 VCPU: 10 are held, 10 are asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gang_is_not_bound_to_a_host_that_has_shrunk_under_its_hold() {
    let cloud = Cloud::new().await;
    let mut hosts = Vec::new();
    for name in ["h0", "h1", "h2", "h3", "h4"] {
        hosts.push((cloud.host(name, 2, 1.0).await, name));
    }
    for name in ["a", "b"] {
        let queue = format!(
            r#"{{"name": "{name}", "deserved": {{"cpu": 5}}, "capability": {{"cpu": 10}}}}"#
        );
        cloud.queue(&queue).await.unwrap();
    }
    let a = cloud.submit(&five("a")).await;
    cloud.cycle().await;
    cloud.report_all(a, ReportedState::Running).await;
    let b = cloud.submit(&five("b")).await;
    cloud.cycle().await;
    let victims = in_state(&cloud, a, TaskState::Releasing);
    assert_eq!(victims.len(), 2, "{:#?}", cloud.job(b));
    let on = |task: &TaskView| {
        let image = cloud.image();
        image.batch.tasks.get(task.id).unwrap().host.unwrap()
    };
    let (first, second) = (on(&victims[0]), on(&victims[1]));
    cloud.release(&victims[0]).await;
    assert_eq!(cloud.used(first, "VCPU"), 2, "it is held");
    let name = hosts.iter().find(|(host, _)| *host == first).unwrap().1;
    cloud.host(name, 1, 1.0).await;
    cloud.release(&victims[1]).await;
    // All or none: nobody runs without an allocation, and nothing stays held.
    assert_eq!(cloud.states(b).get("Bound"), None);
    assert_eq!((cloud.used(first, "VCPU"), cloud.used(second, "VCPU")), (0, 0));
    assert!(cloud.tasks(b).iter().all(|task| task.nominated_host.is_none()));
    cloud.audit();
}

/// One host of 4 cores in one queue, full of jobs of one task of 1 core each.
async fn full() -> (Cloud, Uuid, Vec<Uuid>) {
    let cloud = Cloud::new().await;
    let host = cloud.host("h", 4, 1.0).await;
    let mut low = Vec::new();
    for _ in 0..4 {
        low.push(cloud.submit(r#"{"tasks": [{"requests": {"cpu": 1}}]}"#).await);
    }
    cloud.cycle().await;
    for job in &low {
        cloud.report_all(*job, ReportedState::Running).await;
        assert_eq!(cloud.states(*job).get("Running"), Some(&1));
    }
    (cloud, host, low)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gang_of_higher_priority_gets_exactly_the_room_it_needs() {
    let (cloud, host, low) = full().await;
    let gang = r#"{"priority": 10, "tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#;
    let high = cloud.submit(gang).await;
    cloud.cycle().await;
    let mut leaving = Vec::new();
    for job in &low {
        leaving.extend(in_state(&cloud, *job, TaskState::Releasing));
    }
    assert_eq!(leaving.len(), 4, "{:#?}", cloud.job(high));
    for (place, task) in leaving.iter().enumerate() {
        assert_eq!(cloud.states(high).get("Bound"), None, "after {place} of 4 have left");
        cloud.release(task).await;
    }
    assert_eq!(cloud.states(high).get("Bound"), Some(&2));
    assert_eq!(cloud.used(host, "VCPU"), 4);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_leaves_for_a_gang_that_would_not_fit_anyway_or_may_not_evict() {
    let (cloud, _, low) = full().await;
    for job in [
        r#"{"priority": 10, "tasks": [{"count": 2, "requests": {"cpu": 3}}]}"#,
        r#"{"priority": 10, "tasks": [{"requests": {"cpu": 1}, "preemption_policy": "Never"}]}"#,
        r#"{"tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#,
    ] {
        let waits = cloud.submit(job).await;
        cloud.cycle().await;
        assert_eq!(cloud.job(waits).summary.phase, JobPhase::Pending, "{job}");
        for job in &low {
            assert_eq!(in_state(&cloud, *job, TaskState::Releasing).len(), 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_evicted_in_a_loop_is_spared_for_a_while() {
    let mut cloud = Cloud::new().await;
    cloud.settings.set("service_down_time", "1000000").unwrap();
    cloud.host("h", 4, 1.0).await;
    let low = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 4}}]}"#).await;
    let high = r#"{"priority": 10, "tasks": [{"requests": {"cpu": 4}}]}"#;
    let window = i64::try_from(cloud.settings.batch.loop_window.as_secs()).unwrap();
    for (evictions, gap) in [(1, 0), (1, window), (2, window - 10)] {
        cloud.cycle().await;
        cloud.report_all(low, ReportedState::Running).await;
        cloud.pass(gap);
        let other = cloud.submit(high).await;
        cloud.cycle().await;
        let victim = cloud.tasks(low).swap_remove(0);
        let why = cloud.job(other).summary.conditions;
        assert_eq!((victim.state, victim.evictions), (TaskState::Releasing, evictions), "{why:?}");
        cloud.release(&victim).await;
        assert_eq!(cloud.states(other).get("Bound"), Some(&1));
        // No retry is charged for it, and the next attempt is a new one.
        cloud.report_all(other, ReportedState::Succeeded).await;
        assert_eq!(cloud.tasks(low)[0].retries, 0);
    }
    cloud.cycle().await;
    cloud.report_all(low, ReportedState::Running).await;
    let other = cloud.submit(high).await;
    cloud.cycle().await;
    let spared = &cloud.tasks(low)[0];
    assert_eq!((spared.state, spared.attempt), (TaskState::Running, 4), "the loop is broken");
    cloud.pass(window);
    cloud.cycle().await;
    assert_eq!(in_state(&cloud, low, TaskState::Releasing).len(), 1);
    assert!(cloud.tasks(other)[0].nominated_host.is_some());
    cloud.audit();
}

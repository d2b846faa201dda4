//! Reports, cancellation, ends.

use crate::cloud::{Cloud, fresh};
use stowplan_batch::BatchError;
use stowplan_batch::life::{JobPhase, TaskState};
use stowplan_batch::store::{ReportedState, TaskReport, forget};
use stowplan_model::Uuid;

const TWO: &str =
    r#"{"name": "two", "tasks": [{"role": "w", "count": 2, "requests": {"cpu": 2}}]}"#;

fn report(task: Uuid, attempt: i64, state: ReportedState) -> TaskReport {
    TaskReport { task, attempt, state, exit_code: None, message: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ends_frees_its_room_for_the_next() {
    let cloud = Cloud::new().await;
    let a = cloud.host("a", 4, 1.0).await;
    let first = cloud.submit(TWO).await;
    let second = cloud.submit(r#"{"tasks": [{"count": 4, "requests": {"cpu": 1}}]}"#).await;
    cloud.cycle().await;
    cloud.report_all(first, ReportedState::Running).await;
    assert_eq!(cloud.states(first).get("Running"), Some(&2));
    assert_eq!(cloud.cycle().await.binds, 0);
    cloud.report_all(first, ReportedState::Succeeded).await;
    assert_eq!(cloud.job(first).summary.phase, JobPhase::Completed);
    assert_eq!(cloud.used(a, "VCPU"), 0);
    let task = &cloud.tasks(first)[0];
    assert_eq!((task.host.as_deref(), task.reason.as_deref()), (None, Some("on a")));
    assert_eq!(cloud.cycle().await.binds, 4);
    assert_eq!(cloud.states(second).get("Bound"), Some(&4));
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_are_judged_one_by_one() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(TWO).await;
    cloud.cycle().await;
    let tasks = cloud.tasks(job);
    let (one, other, nobody) = (tasks[0].id, tasks[1].id, fresh());
    let verdicts = cloud
        .task_reports(vec![
            report(one, 1, ReportedState::Running),
            report(one, 1, ReportedState::Running),
            report(one, 7, ReportedState::Succeeded),
            report(nobody, 1, ReportedState::Running),
            report(other, 1, ReportedState::Succeeded),
            report(other, 1, ReportedState::Succeeded),
            report(other, 1, ReportedState::Running),
            report(other, 1, ReportedState::Released),
        ])
        .await;
    let seen: Vec<_> = verdicts.iter().map(|verdict| (verdict.status, verdict.state)).collect();
    let (running, done) = (Some(TaskState::Running), Some(TaskState::Succeeded));
    assert_eq!(
        seen,
        [
            (200, running),
            (200, running),
            (409, running),
            (404, None),
            (200, done),
            (200, done),
            (409, done),
            (200, done),
        ]
    );
    assert_eq!(
        verdicts[2].detail.as_deref(),
        Some("attempt is 7: expected 1, the task has been bound so often")
    );
    // The same reports again change nothing.
    let seq = cloud.image().seq();
    cloud.task_reports(vec![report(one, 1, ReportedState::Running)]).await;
    assert_eq!(cloud.image().seq(), seq);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gang_that_loses_a_task_fails_and_takes_the_rest_with_it() {
    let cloud = Cloud::new().await;
    let a = cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(TWO).await;
    cloud.cycle().await;
    let tasks = cloud.tasks(job);
    let failed = TaskReport {
        exit_code: Some(3),
        message: Some("out of memory".to_owned()),
        ..report(tasks[0].id, 1, ReportedState::Failed)
    };
    cloud.task_reports(vec![failed]).await;
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Failed);
    let now = cloud.tasks(job);
    assert_eq!((now[0].state, now[1].state), (TaskState::Failed, TaskState::Releasing));
    assert_eq!(now[0].reason.as_deref(), Some("exit code 3, out of memory, on a"));
    assert_eq!(cloud.used(a, "VCPU"), 2, "what must go holds its room until it is gone");
    cloud.task_reports(vec![report(tasks[1].id, 1, ReportedState::Released)]).await;
    assert_eq!(cloud.tasks(job)[1].state, TaskState::Cancelled);
    assert_eq!(cloud.used(a, "VCPU"), 0);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_elastic_job_survives_a_failure() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let job = cloud
        .submit(r#"{"min_available": 1, "tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#)
        .await;
    cloud.cycle().await;
    let tasks = cloud.tasks(job);
    cloud.task_reports(vec![report(tasks[0].id, 1, ReportedState::Failed)]).await;
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Running);
    cloud.task_reports(vec![report(tasks[1].id, 1, ReportedState::Succeeded)]).await;
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_tasks_hold_their_room_until_released() {
    let cloud = Cloud::new().await;
    let a = cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(TWO).await;
    let waiting = cloud.submit(r#"{"tasks": [{"count": 1, "requests": {"cpu": 4}}]}"#).await;
    cloud.cycle().await;
    cloud.cancel(job, false).await.unwrap();
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Cancelled);
    assert_eq!(cloud.states(job).get("Releasing"), Some(&2));
    assert_eq!(cloud.cycle().await.binds, 0, "the room is promised, not free");
    assert_eq!(cloud.states(waiting).get("Pending"), Some(&1));
    let early = cloud.ledger.write("test", move |image| forget(image, job)).await.unwrap_err();
    assert!(early.to_string().contains("some of its tasks hold room"), "{early}");
    cloud.report_all(job, ReportedState::Released).await;
    assert_eq!(cloud.states(job).get("Cancelled"), Some(&2));
    assert_eq!(cloud.used(a, "VCPU"), 0);
    assert_eq!(cloud.cycle().await.binds, 1);
    cloud.ledger.write("test", move |image| forget(image, job)).await.unwrap();
    assert!(cloud.image().batch.jobs.get(job).is_none());
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn force_frees_at_once_and_cancelling_twice_is_fine() {
    let cloud = Cloud::new().await;
    let a = cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(TWO).await;
    cloud.cycle().await;
    cloud.cancel(job, false).await.unwrap();
    let seq = cloud.image().seq();
    cloud.cancel(job, false).await.unwrap();
    assert_eq!(cloud.image().seq(), seq);
    cloud.cancel(job, true).await.unwrap();
    assert_eq!(cloud.used(a, "VCPU"), 0);
    assert_eq!(cloud.states(job).get("Cancelled"), Some(&2));
    let done = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 1}}]}"#).await;
    cloud.cycle().await;
    cloud.report_all(done, ReportedState::Succeeded).await;
    let error = cloud.cancel(done, false).await.unwrap_err();
    assert_eq!(error, BatchError::Ended { job: done, phase: "Completed".to_owned() });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_given_back_by_its_executor_is_bound_again() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let job = cloud
        .submit(r#"{"min_available": 1, "tasks": [{"count": 1, "requests": {"cpu": 2}}]}"#)
        .await;
    cloud.cycle().await;
    cloud.report_all(job, ReportedState::Released).await;
    assert_eq!(cloud.states(job).get("Pending"), Some(&1));
    cloud.cycle().await;
    let task = &cloud.tasks(job)[0];
    assert_eq!((task.state, task.attempt), (TaskState::Bound, 2));
    let stale = cloud.task_reports(vec![report(task.id, 1, ReportedState::Running)]).await;
    assert_eq!(stale[0].status, 409);
}

//! What time brings about.

use crate::cloud::Cloud;
use stowplan_batch::life::{JobPhase, TaskState};
use stowplan_batch::store::{Cause, ReportedState};
use stowplan_model::Uuid;

fn task(cloud: &Cloud, job: Uuid) -> (TaskState, Option<Cause>) {
    let task = &cloud.tasks(job)[0];
    (task.state, task.leaving)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_does_not_start_has_to_leave() {
    let cloud = Cloud::new().await;
    cloud.host("a", 8, 1.0).await;
    let job = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 2}}]}"#).await;
    cloud.cycle().await;
    cloud.pass(599);
    cloud.sweep().await;
    assert_eq!(task(&cloud, job), (TaskState::Bound, None));
    cloud.pass(1);
    cloud.sweep().await;
    assert_eq!(task(&cloud, job), (TaskState::Releasing, Some(Cause::BindTimeout)));
    let seq = cloud.image().seq();
    cloud.sweep().await;
    assert_eq!(cloud.image().seq(), seq, "nothing more is over");
    cloud.pass(300);
    cloud.sweep().await;
    assert_eq!(cloud.image().seq(), seq + 1, "the executor is told again");
    cloud.report_all(job, ReportedState::Released).await;
    assert_eq!(task(&cloud, job), (TaskState::Pending, None));
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_runs_too_long_fails_and_is_not_tried_again() {
    let cloud = Cloud::new().await;
    cloud.host("a", 8, 1.0).await;
    let body = r#"{"run_limit_s": 60, "max_retries": 3, "ttl_after_finished_s": 100,
        "tasks": [{"requests": {"cpu": 2}}]}"#;
    let job = cloud.submit(body).await;
    cloud.cycle().await;
    cloud.pass(100);
    cloud.report_all(job, ReportedState::Running).await;
    cloud.pass(59);
    cloud.sweep().await;
    assert_eq!(task(&cloud, job), (TaskState::Running, None));
    cloud.pass(1);
    cloud.sweep().await;
    assert_eq!(task(&cloud, job), (TaskState::Releasing, Some(Cause::RunLimit)));
    cloud.report_all(job, ReportedState::Released).await;
    assert_eq!(task(&cloud, job), (TaskState::Failed, None));
    let reason = cloud.tasks(job)[0].reason.clone().unwrap();
    assert_eq!(reason, "it ran longer than run_limit_s of its job, on a");
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Failed);
    cloud.pass(99);
    cloud.sweep().await;
    assert!(cloud.image().batch.jobs.get(job).is_some());
    cloud.pass(1);
    cloud.sweep().await;
    assert!(cloud.image().batch.jobs.get(job).is_none(), "it is forgotten");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_a_lost_host_are_unknown_until_it_speaks() {
    let cloud = Cloud::new().await;
    let host = cloud.host("a", 8, 1.0).await;
    let job = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 2}}]}"#).await;
    cloud.cycle().await;
    cloud.report_all(job, ReportedState::Running).await;
    cloud.pass(3700);
    cloud.sweep().await;
    assert_eq!(task(&cloud, job), (TaskState::Unknown, None));
    assert_eq!(cloud.used(host, "VCPU"), 2, "it may still run there");
    let started = cloud.tasks(job)[0].started;
    cloud.report_all(job, ReportedState::Running).await;
    assert_eq!(task(&cloud, job), (TaskState::Running, None));
    assert_eq!(cloud.tasks(job)[0].started, started);
    cloud.audit();
}

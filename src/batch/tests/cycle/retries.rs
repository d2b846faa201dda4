//! Tasks that fail, jobs that are held back, started anew or changed.

use crate::cloud::Cloud;
use stowplan_batch::life::{JobPhase, TaskState};
use stowplan_batch::store::{
    ReportedState, TaskReport, delete_queue, fence, read_update, requeue, resume, suspend,
    update_job,
};
use stowplan_batch::views::TaskView;
use stowplan_model::Uuid;

async fn one_host() -> (Cloud, Uuid) {
    let cloud = Cloud::new().await;
    let host = cloud.host("a", 8, 1.0).await;
    (cloud, host)
}

async fn say(cloud: &Cloud, task: &TaskView, state: ReportedState) -> u16 {
    let report = TaskReport {
        task: task.id,
        attempt: task.attempt,
        state,
        exit_code: Some(3),
        message: None,
    };
    cloud.task_reports(vec![report]).await[0].status
}

fn states(cloud: &Cloud, job: Uuid) -> Vec<TaskState> {
    cloud.tasks(job).iter().map(|task| task.state).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_task_is_tried_again_after_a_pause() {
    let (cloud, host) = one_host().await;
    let job = cloud.submit(r#"{"max_retries": 2, "tasks": [{"requests": {"cpu": 2}}]}"#).await;
    for (retry, pause) in [(1, 10), (2, 20)] {
        cloud.cycle().await;
        let task = &cloud.tasks(job)[0];
        assert_eq!((task.state, task.attempt), (TaskState::Bound, retry));
        assert_eq!(say(&cloud, task, ReportedState::Running).await, 200);
        assert!(cloud.tasks(job)[0].started.is_some());
        assert_eq!(say(&cloud, task, ReportedState::Failed).await, 200);
        // Said again, it is known.
        assert_eq!(say(&cloud, task, ReportedState::Failed).await, 200);
        let after = &cloud.tasks(job)[0];
        assert_eq!((after.state, i64::from(after.retries)), (TaskState::Pending, retry));
        assert_eq!((after.exit_code, after.started), (Some(3), None));
        assert_eq!(cloud.used(host, "VCPU"), 0);
        cloud.pass(pause - 1);
        assert_eq!(cloud.cycle().await.binds, 0, "not yet");
        cloud.pass(1);
    }
    cloud.cycle().await;
    say(&cloud, &cloud.tasks(job)[0], ReportedState::Failed).await;
    assert_eq!(states(&cloud, job), [TaskState::Failed]);
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Failed);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_the_others_when_a_task_fails() {
    use TaskState::{Bound, Failed, Pending, Releasing, Succeeded};
    let body = |policy: &str, retries: u32| {
        format!(
            r#"{{"min_available": 1, "max_retries": {retries}, "on_task_failure": "{policy}",
                "tasks": [{{"count": 3, "requests": {{"cpu": 1}}}}]}}"#
        )
    };
    for (policy, retries, after, phase) in [
        ("ignore", 0, [Failed, Succeeded, Bound], JobPhase::Running),
        ("fail_job", 0, [Failed, Succeeded, Releasing], JobPhase::Failed),
        ("fail_job", 1, [Pending, Succeeded, Bound], JobPhase::Running),
        ("restart_job", 1, [Pending, Pending, Releasing], JobPhase::Running),
    ] {
        let (cloud, _) = one_host().await;
        let job = cloud.submit(&body(policy, retries)).await;
        cloud.cycle().await;
        let tasks = cloud.tasks(job);
        say(&cloud, &tasks[1], ReportedState::Succeeded).await;
        say(&cloud, &tasks[0], ReportedState::Failed).await;
        assert_eq!(states(&cloud, job), after, "{policy} {retries}");
        assert_eq!(cloud.job(job).summary.phase, phase, "{policy} {retries}");
        cloud.audit();
        if policy == "restart_job" {
            say(&cloud, &tasks[2], ReportedState::Released).await;
            cloud.pass(10);
            cloud.cycle().await;
            let attempts: Vec<i64> = cloud.tasks(job).iter().map(|task| task.attempt).collect();
            assert_eq!((states(&cloud, job), attempts), (vec![Bound; 3], vec![2; 3]));
            say(&cloud, &cloud.tasks(job)[0], ReportedState::Failed).await;
            assert_eq!(cloud.job(job).summary.phase, JobPhase::Failed, "once is enough");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_job_leaves_its_hosts_and_comes_back() {
    let (cloud, host) = one_host().await;
    let job = cloud.submit(r#"{"suspend": true, "tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#);
    let job = job.await;
    assert_eq!(cloud.cycle().await.binds, 0);
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Suspended);
    let go_on = || {
        let now = cloud.now();
        cloud.act(move |image| resume(image, job, now))
    };
    go_on().await.unwrap();
    assert_eq!(cloud.cycle().await.binds, 2);
    let refused = go_on().await.unwrap_err().to_string();
    assert_eq!(refused, format!("job {job} is Running: only a suspended job is resumed"));
    let now = cloud.now();
    cloud.act(move |image| suspend(image, job, now)).await.unwrap();
    assert_eq!(states(&cloud, job), [TaskState::Releasing; 2]);
    assert_eq!(cloud.used(host, "VCPU"), 4, "room is free when the executor says so");
    // Told to stop, a task that ends badly has not failed.
    let tasks = cloud.tasks(job);
    say(&cloud, &tasks[0], ReportedState::Failed).await;
    say(&cloud, &tasks[1], ReportedState::Released).await;
    assert_eq!(states(&cloud, job), [TaskState::Pending; 2]);
    assert_eq!((cloud.used(host, "VCPU"), cloud.cycle().await.binds), (0, 0));
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Suspended);
    go_on().await.unwrap();
    assert_eq!(cloud.cycle().await.binds, 2);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requeued_job_starts_anew() {
    let (cloud, _) = one_host().await;
    let job = cloud.submit(r#"{"tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#).await;
    cloud.cycle().await;
    cloud.report_all(job, ReportedState::Succeeded).await;
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Completed);
    let now = cloud.now();
    cloud.act(move |image| requeue(image, job, now)).await.unwrap();
    assert_eq!(cloud.job(job).summary.phase, JobPhase::Pending);
    assert_eq!(cloud.cycle().await.binds, 2);
    assert!(cloud.tasks(job).iter().all(|task| task.attempt == 2 && task.ended.is_none()));
    cloud.act(move |image| requeue(image, job, now)).await.unwrap();
    assert_eq!(states(&cloud, job), [TaskState::Releasing; 2]);
    cloud.report_all(job, ReportedState::Released).await;
    assert_eq!(cloud.cycle().await.binds, 2);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_grows_and_shrinks() {
    let (cloud, host) = one_host().await;
    let job = cloud.submit(
        r#"{"min_available": 1, "tasks": [{"role": "w", "count": 2, "requests": {"cpu": 1}}]}"#,
    );
    let job = job.await;
    cloud.cycle().await;
    let change = |body: &str| {
        let (update, now) = (read_update(body.as_bytes()).unwrap(), cloud.now());
        cloud.act(move |image| update_job(image, job, &update, 100, now))
    };
    change(r#"{"tasks": [{"role": "w", "count": 4}], "priority": 7}"#).await.unwrap();
    cloud.cycle().await;
    assert_eq!(states(&cloud, job), [TaskState::Bound; 4]);
    assert_eq!(cloud.job(job).spec.unwrap().priority, 7);
    change(r#"{"tasks": [{"role": "w", "count": 1}]}"#).await.unwrap();
    assert_eq!(cloud.states(job).get("Releasing"), Some(&3));
    // One comes back before it has left: it leaves first all the same.
    change(r#"{"tasks": [{"role": "w", "count": 2}]}"#).await.unwrap();
    cloud.report_all(job, ReportedState::Released).await;
    assert_eq!(cloud.used(host, "VCPU"), 0);
    let now = states(&cloud, job);
    assert_eq!(now[1..], [TaskState::Pending, TaskState::Cancelled, TaskState::Cancelled]);
    for (body, part) in [
        (r#"{"min_available": 3}"#, "min_available is 3: expected 0 to 2"),
        (r#"{"tasks": [{"role": "x", "count": 1}]}"#, "tasks[0].role is \"x\""),
        (r#"{"tasks": [{"role": "w", "count": 0}]}"#, "tasks[0].count is 0: expected 1 or more"),
        (r#"{"tasks": [{"role": "w", "count": 101}]}"#, "at most 100 tasks"),
    ] {
        let error = change(body).await.unwrap_err().to_string();
        assert!(error.contains(part), "{body}: {error}");
    }
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fenced_host_gives_its_tasks_back() {
    let (cloud, host) = one_host().await;
    let job = cloud.submit(r#"{"tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#).await;
    let gone = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 2}}]}"#).await;
    cloud.cycle().await;
    cloud.report_all(job, ReportedState::Running).await;
    cloud.cancel(gone, false).await.unwrap();
    let before = cloud.tasks(job);
    let now = cloud.now();
    let fenced = cloud.act(move |image| Ok(fence(image, &[host], now))).await.unwrap();
    assert_eq!(fenced.tasks.len(), 3);
    assert_eq!(cloud.used(host, "VCPU"), 0);
    assert_eq!(states(&cloud, job), [TaskState::Pending; 2]);
    assert_eq!(states(&cloud, gone), [TaskState::Cancelled]);
    assert_eq!(say(&cloud, &before[0], ReportedState::Running).await, 409);
    assert_eq!(say(&cloud, &before[0], ReportedState::Succeeded).await, 409);
    cloud.cycle().await;
    assert!(cloud.tasks(job).iter().all(|task| task.attempt == 2));
    assert_eq!(say(&cloud, &before[0], ReportedState::Released).await, 409, "of another attempt");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_needs_at_least_follows_its_minimum() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let job = r#""tasks": [{"role": "w", "count": 5, "requests": {"cpu": 1}}]"#;
    let all = cloud.submit(&format!("{{{job}}}")).await;
    let said = cloud
        .submit(&format!(r#"{{"min_resources": {{"cpu": 5}}, "min_available": 4, {job}}}"#))
        .await;
    let change = async |job, body: &str| {
        let (update, now) = (read_update(body.as_bytes()).unwrap(), cloud.now());
        cloud.act(move |image| update_job(image, job, &update, 1000, now)).await.unwrap();
        cloud.job(job).spec.unwrap()
    };
    assert_eq!(cloud.cycle().await.binds, 0, "no more than 4 fit");
    for job in [all, said] {
        let spec = change(job, r#"{"min_available": 3, "priority": 4}"#).await;
        let cpus = if job == all { 3 } else { 5 };
        assert_eq!(spec.min_resources.unwrap()["VCPU"], cpus, "the owner's own word stays");
    }
    cloud.cycle().await;
    assert_eq!(cloud.states(all).get("Bound"), Some(&4));
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_has_ended_goes_back_into_an_open_queue_only() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    cloud.queue(r#"{"name": "gone"}"#).await.unwrap();
    let job = cloud.submit(r#"{"queue": "gone", "tasks": [{"requests": {"cpu": 1}}]}"#).await;
    cloud.cycle().await;
    cloud.report_all(job, ReportedState::Succeeded).await;
    let now = cloud.now();
    cloud.act(|image| delete_queue(image, "gone")).await.unwrap();
    let refusal = cloud.act(move |image| requeue(image, job, now)).await.unwrap_err();
    assert_eq!(refusal.to_string(), "queue is \"gone\": expected the name of a queue that exists");
    cloud.queue(r#"{"name": "gone"}"#).await.unwrap();
    cloud.act(move |image| requeue(image, job, now)).await.unwrap();
    assert_eq!(cloud.cycle().await.binds, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_long_message_the_beginning_is_kept() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 1}}]}"#).await;
    cloud.cycle().await;
    let task = &cloud.tasks(job)[0];
    let report = TaskReport {
        task: task.id,
        attempt: task.attempt,
        state: ReportedState::Running,
        exit_code: None,
        message: Some("\u{e9}".repeat(100_000)),
    };
    assert_eq!(cloud.task_reports(vec![report]).await[0].status, 200);
    assert_eq!(cloud.tasks(job)[0].reason.as_ref().unwrap().chars().count(), 1000);
}

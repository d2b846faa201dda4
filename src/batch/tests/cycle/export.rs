//! An exported state comes to what the cycle comes to.

use crate::cloud::Cloud;
use std::collections::BTreeMap;
use stowplan_batch::life::TaskState;
use stowplan_batch::scenario::{BatchScenario, Outcome, export};
use stowplan_batch::store::ReportedState;
use stowplan_config::{BatchTotal, Settings};
use stowplan_model::host::HostReport;
use stowplan_model::host_devices::Device;

/// What a cycle would do, offline, from the defaults of the settings.
fn evaluated(cloud: &Cloud) -> Outcome {
    let exported = export(&cloud.image(), &cloud.settings, cloud.now()).unwrap();
    assert!(BatchScenario::is_one(&exported));
    let scenario: BatchScenario = serde_json::from_value(exported).unwrap();
    scenario.evaluate(&Settings::default(), &[]).unwrap().first
}

/// Tasks of a state, by the names that scenarios give them.
fn tasks(cloud: &Cloud, with: impl Fn(TaskState) -> bool) -> BTreeMap<String, String> {
    let image = cloud.image();
    let jobs = image.batch.jobs.iter();
    let tasks = jobs.flat_map(|job| {
        let tasks = cloud.tasks(job.uuid).into_iter().filter(|task| with(task.state));
        tasks.map(|task| {
            let name = task.name.replace('/', "-");
            (format!("{}/{name}", job.namespace), task.node.unwrap_or_default())
        })
    });
    tasks.collect()
}

async fn busy(total: BatchTotal) -> Cloud {
    let mut cloud = Cloud::new().await;
    cloud.settings.batch.total = total;
    let device = |number: i32| Device {
        name: format!("gpu{number}"),
        resource_class: "PGPU".to_owned(),
        total: 1,
        traits: Vec::new(),
        numa_node: None,
    };
    let devices = (0..4).map(device).collect();
    cloud.report("a", 8, 1.0, HostReport { devices, ..HostReport::default() }).await;
    let b = cloud.host("b", 8, 1.0).await;
    cloud.host("c", 6, 1.0).await;
    cloud.claim(b, 3).await.unwrap();
    for (name, deserved) in [("gold", 8), ("blue", 4)] {
        let queue = format!(r#"{{"name": "{name}", "deserved": {{"cpu": {deserved}}}}}"#);
        cloud.queue(&queue).await.unwrap();
    }
    let one = |queue: &str, cpu: i64, count: i64, more: &str| {
        format!(
            r#"{{"queue": "{queue}", "min_available": 1{more}, "tasks": [
                {{"role": "w", "count": {count}, "requests": {{"cpu": {cpu}, "memory": "1Gi"}}}}]}}"#
        )
    };
    let runs = cloud.submit(&one("blue", 1, 14, "")).await;
    let gpu = r#"{"queue": "blue", "tasks": [{"role": "g", "count": 2,
        "requests": {"cpu": 1, "nvidia.com/gpu": 1}}]}"#;
    let trains = cloud.submit(gpu).await;
    cloud.cycle().await;
    for job in [runs, trains] {
        cloud.report_all(job, ReportedState::Running).await;
    }
    cloud.submit(&one("blue", 2, 1, r#", "hint": {"preferredNodeNames": ["c"]}"#)).await;
    cloud.submit(&one("blue", 1, 1, r#", "priority": 7"#)).await;
    cloud.submit(gpu).await;
    cloud
        .submit(r#"{"queue": "gold", "tasks": [{"role": "g", "requests": {"nvidia.com/gpu": 3}}]}"#)
        .await;
    cloud
        .submit(&one("gold", 2, 3, "").replace("\"min_available\": 1", "\"min_available\": 3"))
        .await;
    cloud
}

async fn same_as_the_cycle(cloud: &Cloud) -> (usize, usize) {
    let offline = evaluated(cloud);
    let has_place = |state| matches!(state, TaskState::Bound | TaskState::Running);
    let before = tasks(cloud, has_place);
    let leaving = tasks(cloud, |state| state == TaskState::Releasing);
    cloud.cycle().await;
    let mut binds = tasks(cloud, has_place);
    binds.retain(|name, _| !before.contains_key(name));
    assert_eq!(offline.binds, binds);
    let mut evicts = tasks(cloud, |state| state == TaskState::Releasing);
    evicts.retain(|name, _| !leaving.contains_key(name));
    let mut told = offline.evicts.clone();
    told.sort();
    assert_eq!(told, evicts.into_keys().collect::<Vec<_>>());
    (binds.len(), told.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_evaluates_to_what_the_cycle_does() {
    for total in [BatchTotal::Available, BatchTotal::Physical] {
        let cloud = busy(total).await;
        let (binds, evicts) = same_as_the_cycle(&cloud).await;
        assert!(binds >= 2, "{binds} were bound");
        assert!(evicts >= 1, "{evicts} were evicted");
        // With nominations and tasks on their way out there is nothing new to do.
        same_as_the_cycle(&cloud).await;
        for job in cloud.image().batch.jobs.iter() {
            let leaving = cloud.tasks(job.uuid).into_iter();
            for task in leaving.filter(|task| task.state == TaskState::Releasing).take(1) {
                let report = stowplan_batch::store::TaskReport {
                    task: task.id,
                    attempt: task.attempt,
                    state: ReportedState::Released,
                    exit_code: None,
                    message: None,
                };
                cloud.task_reports(vec![report]).await;
            }
        }
        same_as_the_cycle(&cloud).await;
        cloud.audit();
    }
}

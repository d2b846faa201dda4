//! GPUs: child providers of a host, one per device (rule 4).

use crate::cloud::Cloud;
use std::collections::BTreeMap;
use stowplan_batch::events::{self, EventFilter};
use stowplan_batch::life::TaskState;
use stowplan_batch::store::{Cause, ReportedState};
use stowplan_batch::views::{self, QueueStatus, TaskView};
use stowplan_config::ResourceMapping;
use stowplan_model::Uuid;
use stowplan_model::host::HostReport;
use stowplan_model::host_devices::Device;

/// Devices of one unit, or of a thousand shares, with their models.
async fn host(cloud: &Cloud, name: &str, class: &str, models: &[&str]) -> Uuid {
    let device = |(at, model): (usize, &&str)| Device {
        name: format!("gpu{at}"),
        resource_class: class.to_owned(),
        total: if class == "PGPU" { 1 } else { 1000 },
        traits: vec![format!("CUSTOM_GPU_{model}")],
        numa_node: None,
    };
    let devices = models.iter().enumerate().filter(|(_, model)| **model != "-");
    let devices = devices.map(device).collect();
    cloud.report(name, 64, 1.0, HostReport { devices, ..HostReport::default() }).await
}

/// Shares of GPUs beside whole ones.
async fn shared(models: &[&str]) -> Cloud {
    let mut cloud = Cloud::new().await;
    let map = &mut cloud.settings.batch.resource_map;
    map.push(ResourceMapping::new("gpu-milli", "CUSTOM_GPU_MILLI", "1"));
    host(&cloud, "h", "CUSTOM_GPU_MILLI", models).await;
    cloud
}

fn asks(count: u32, dimension: &str, amount: u32) -> String {
    format!(
        r#"{{"min_available": 0, "tasks": [{{"count": {count},
            "requests": {{"cpu": 1, "{dimension}": {amount}}}}}]}}"#
    )
}

/// The devices of the tasks that have a place, by task.
fn devices(cloud: &Cloud, job: Uuid) -> Vec<Vec<(String, i64)>> {
    let placed = cloud.tasks(job).into_iter().filter(|task| task.host.is_some());
    let of = |task: TaskView| task.devices.into_iter().map(|it| (it.name, it.amount)).collect();
    placed.map(of).collect()
}

fn gpu(name: &str, amount: i64) -> (String, i64) {
    (name.to_owned(), amount)
}

fn leaving(cloud: &Cloud, job: Uuid) -> Vec<TaskView> {
    let tasks = cloud.tasks(job).into_iter();
    tasks.filter(|task| task.state == TaskState::Releasing).collect()
}

fn queue(cloud: &Cloud, name: &str) -> QueueStatus {
    views::queue(&cloud.image(), &cloud.dims(), name).unwrap().status
}

#[tokio::test(flavor = "multi_thread")]
async fn many_gpus_are_many_devices_of_one_host() {
    let cloud = Cloud::new().await;
    host(&cloud, "h1", "PGPU", &["T4", "T4", "T4"]).await;
    host(&cloud, "h2", "PGPU", &["T4", "T4", "T4"]).await;
    let job = cloud.submit(&asks(3, "nvidia.com/gpu", 2)).await;
    cloud.cycle().await;
    let two = vec![gpu("gpu0", 1), gpu("gpu1", 1)];
    assert_eq!(devices(&cloud, job), [two.clone(), two], "a third one of each is left alone");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_is_of_one_device() {
    let cloud = shared(&["T4", "T4"]).await;
    let first = cloud.submit(&asks(3, "gpu-milli", 600)).await;
    cloud.cycle().await;
    assert_eq!(devices(&cloud, first), [[gpu("gpu0", 600)], [gpu("gpu1", 600)]]);
    let whole = cloud.submit(&asks(1, "gpu-milli", 1000)).await;
    let small = cloud.submit(&asks(3, "gpu-milli", 400)).await;
    cloud.cycle().await;
    assert_eq!(devices(&cloud, small), [[gpu("gpu0", 400)], [gpu("gpu1", 400)]]);
    assert!(devices(&cloud, whole).is_empty());
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_is_a_trait() {
    let cloud = Cloud::new().await;
    host(&cloud, "h1", "PGPU", &["T4", "V100"]).await;
    host(&cloud, "h2", "PGPU", &["A100", "V100"]).await;
    for (rules, expected) in [
        (r#"["CUSTOM_GPU_V100"]"#, vec!["h1 gpu1", "h2 gpu1"]),
        (r#"["in:CUSTOM_GPU_A100,CUSTOM_GPU_H100"]"#, vec!["h2 gpu0"]),
        (r#"["!CUSTOM_GPU_T4", "!CUSTOM_GPU_V100"]"#, vec!["h2 gpu0"]),
        (r#"["CUSTOM_GPU_H100"]"#, vec![]),
    ] {
        let job = cloud
            .submit(&format!(
                r#"{{"min_available": 0, "tasks": [{{"count": 3,
                    "requests": {{"nvidia.com/gpu": 1}},
                    "required_traits": {{"nvidia.com/gpu": {rules}}}}}]}}"#
            ))
            .await;
        cloud.cycle().await;
        let placed = cloud.tasks(job).into_iter().filter(|task| task.host.is_some());
        let mut placed: Vec<String> =
            placed.map(|task| format!("{} {}", task.host.unwrap(), task.devices[0].name)).collect();
        placed.sort_unstable();
        assert_eq!(placed, expected, "{rules}");
        cloud.audit();
        cloud.cancel(job, true).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_virtual_machines_hold_of_devices_is_seen() {
    let cloud = Cloud::new().await;
    host(&cloud, "h", "PGPU", &["T4", "T4"]).await;
    let image = cloud.image();
    let at = image.providers.find_name("h_gpu0").unwrap();
    let claimed = cloud.claim_of(image.providers.uuid(at), "PGPU", 1).await;
    claimed.unwrap();
    let job = cloud.submit(&asks(2, "nvidia.com/gpu", 1)).await;
    cloud.cycle().await;
    assert_eq!(devices(&cloud, job), [[gpu("gpu1", 1)]]);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_device_stops_who_is_on_it() {
    let cloud = Cloud::new().await;
    host(&cloud, "h1", "PGPU", &["T4", "T4", "T4"]).await;
    host(&cloud, "h2", "PGPU", &["T4"]).await;
    let jobs = [
        cloud.submit(&asks(3, "nvidia.com/gpu", 1)).await,
        cloud.submit(&asks(1, "nvidia.com/gpu", 1)).await,
    ];
    cloud.cycle().await;
    for job in jobs {
        cloud.report_all(job, ReportedState::Running).await;
    }
    host(&cloud, "h1", "PGPU", &["T4", "-", "T4"]).await;
    cloud.sweep().await;
    let stopped: Vec<TaskView> = jobs.iter().flat_map(|job| leaving(&cloud, *job)).collect();
    assert_eq!(stopped.len(), 1, "{stopped:#?}");
    assert_eq!(stopped[0].leaving, Some(Cause::DeviceLost));
    assert_eq!(
        (stopped[0].host.as_deref(), stopped[0].devices[0].name.as_str()),
        (Some("h1"), "gpu1")
    );
    // Nobody else, however long its executor takes.
    cloud.sweep().await;
    assert_eq!(jobs.iter().flat_map(|job| leaving(&cloud, *job)).count(), 1);
    cloud.release(&stopped[0]).await;
    let back = cloud.tasks(jobs[0]).into_iter().chain(cloud.tasks(jobs[1]));
    let back = back.filter(|task| task.id == stopped[0].id).map(|task| (task.state, task.retries));
    assert_eq!(back.collect::<Vec<_>>(), [(TaskState::Pending, 0)]);
    // The next report takes the device away, and there is no room left.
    host(&cloud, "h1", "PGPU", &["T4", "-", "T4"]).await;
    assert!(cloud.image().providers.find_name("h1_gpu1").is_none());
    cloud.cycle().await;
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_device_is_no_excuse_for_who_ran_too_long() {
    let cloud = Cloud::new().await;
    host(&cloud, "h", "PGPU", &["T4"]).await;
    let body = r#"{"run_limit_s": 60, "tasks": [{"requests": {"nvidia.com/gpu": 1}}]}"#;
    let job = cloud.submit(body).await;
    cloud.cycle().await;
    cloud.report_all(job, ReportedState::Running).await;
    host(&cloud, "h", "PGPU", &["-"]).await;
    cloud.pass(61);
    cloud.sweep().await;
    let task = leaving(&cloud, job).remove(0);
    assert_eq!(task.leaving, Some(Cause::RunLimit));
    cloud.release(&task).await;
    assert_eq!(cloud.tasks(job)[0].state, TaskState::Failed, "it does not run again");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_tell_the_devices_of_their_own_attempt() {
    let cloud = Cloud::new().await;
    host(&cloud, "h1", "PGPU", &["T4"]).await;
    let body = r#"{"max_retries": 1, "tasks": [{"requests": {"nvidia.com/gpu": 1}}]}"#;
    let before = cloud.image().seq();
    let job = cloud.submit(body).await;
    cloud.cycle().await;
    cloud.report_all(job, ReportedState::Failed).await;
    host(&cloud, "h2", "PGPU", &["T4", "T4"]).await;
    // The first one is somebody else's by now.
    let image = cloud.image();
    let gpu = image.providers.uuid(image.providers.find_name("h1_gpu0").unwrap());
    cloud.claim_of(gpu, "PGPU", 1).await.unwrap();
    cloud.pass(30);
    cloud.cycle().await;
    let entries = cloud.ledger.journal(before, 100).await.unwrap();
    let image = cloud.image();
    let filter = EventFilter { kinds: vec!["task.bound".to_owned()], ..EventFilter::default() };
    let bound = entries.iter().flat_map(|entry| events::of(entry, &image, &filter));
    let told: Vec<_> = bound
        .filter_map(|event| event.task)
        .map(|task| (task.attempt, task.devices.into_iter().map(|it| it.name).collect()))
        .collect();
    let expected: [(i64, Vec<String>); 2] = [(1, vec![]), (2, vec!["gpu0".to_owned()])];
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_exceeds_a_device_that_shrinks_has_the_lowest_priority() {
    let cloud = shared(&["T4", "T4"]).await;
    let mut jobs = Vec::new();
    for priority in [5, 1, 3] {
        let body = format!(
            r#"{{"priority": {priority}, "tasks": [{{"requests": {{"gpu-milli": 300}}}}]}}"#
        );
        jobs.push(cloud.submit(&body).await);
        cloud.cycle().await;
    }
    let on = |job| devices(&cloud, job)[0][0].0.clone();
    assert!(jobs.iter().all(|job| on(*job) == "gpu0"));
    cloud.set_total("h_gpu0", "CUSTOM_GPU_MILLI", 700).await;
    cloud.sweep().await;
    let stopped = |job: &Uuid| leaving(&cloud, *job).len();
    assert_eq!(jobs.iter().map(stopped).collect::<Vec<_>>(), [0, 1, 0]);
    cloud.set_total("h_gpu0", "CUSTOM_GPU_MILLI", 299).await;
    cloud.sweep().await;
    assert_eq!(jobs.iter().map(stopped).collect::<Vec<_>>(), [1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_gpu_stops_no_other_queue() {
    let cloud = Cloud::new().await;
    host(&cloud, "h1", "PGPU", &["T4", "T4"]).await;
    for (name, guarantee) in [("a", 1), ("b", 1)] {
        let queue = format!(
            r#"{{"name": "{name}", "deserved": {{"nvidia.com/gpu": 1}},
                "guarantee": {{"resource": {{"nvidia.com/gpu": {guarantee}}}}}}}"#
        );
        cloud.queue(&queue).await.unwrap();
    }
    assert!(queue(&cloud, "a").conditions.is_empty());
    cloud.patch("a", r#"{"deserved": {"nvidia.com/gpu": 2}, "guarantee": {"resource": {"nvidia.com/gpu": 1}}}"#).await.unwrap();
    host(&cloud, "h1", "PGPU", &["T4", "-"]).await;
    let status = queue(&cloud, "a");
    assert_eq!(status.conditions[0].message, "2 PGPU are deserved, 1 can be had");
    assert_eq!(status.real_capability["PGPU"], 1);
    let in_queue = |name: &str| {
        format!(r#"{{"queue": "{name}", "tasks": [{{"requests": {{"nvidia.com/gpu": 1}}}}]}}"#)
    };
    let b = cloud.submit(&in_queue("b")).await;
    cloud.cycle().await;
    assert_eq!(devices(&cloud, b), [[gpu("gpu0", 1)]], "b has what it was promised");
    let other = cloud.submit(r#"{"queue": "a", "tasks": [{"requests": {"cpu": 1}}]}"#).await;
    cloud.cycle().await;
    assert_eq!(cloud.states(other), BTreeMap::from([("Bound".to_owned(), 1)]));
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn room_made_on_devices_is_whole() {
    let cloud = shared(&["T4", "T4"]).await;
    // A third of one device each, and one of both more than half.
    let low = cloud.submit(&asks(4, "gpu-milli", 400)).await;
    cloud.cycle().await;
    cloud.report_all(low, ReportedState::Running).await;
    let high =
        cloud.submit(r#"{"priority": 9, "tasks": [{"requests": {"gpu-milli": 1000}}]}"#).await;
    cloud.cycle().await;
    let victims = leaving(&cloud, low);
    assert_eq!(victims.len(), 2, "{:#?}", cloud.job(high));
    assert_eq!(victims[0].devices, victims[1].devices, "both on one device");
    // While they leave, a smaller one gets what is left of the other device.
    let small = cloud.submit(&asks(2, "gpu-milli", 200)).await;
    cloud.cycle().await;
    let left = devices(&cloud, small);
    assert_eq!(left.len(), 1);
    assert_ne!(left[0][0].0, victims[0].devices[0].name);
    cloud.release(&victims[0]).await;
    assert!(devices(&cloud, high).is_empty());
    cloud.audit();
    cloud.release(&victims[1]).await;
    assert_eq!(devices(&cloud, high), [[gpu(&victims[0].devices[0].name, 1000)]]);
    cloud.audit();
}

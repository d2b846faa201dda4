//! What a cycle commits.

use crate::cloud::Cloud;
use stowplan_batch::life::{JobPhase, TaskState};
use stowplan_batch::session::ConditionKind;
use stowplan_batch::views;
use stowplan_model::host::HostReport;
use stowplan_model::host_devices::Device;

#[tokio::test(flavor = "multi_thread")]
async fn a_gang_is_placed_whole_in_one_change() {
    let cloud = Cloud::new().await;
    let a = cloud.host("a", 4, 1.0).await;
    let b = cloud.host("b", 4, 1.0).await;
    cloud.claim(a, 2).await.unwrap();
    let job = cloud
        .submit(
            r#"{"name": "train", "tasks": [{"role": "worker", "count": 3,
            "requests": {"cpu": "1500m", "memory": "1Gi"}}]}"#,
        )
        .await;
    let before = cloud.image().seq();
    let report = cloud.cycle().await;
    assert_eq!((report.binds, report.refusals), (3, 0));
    let binds: Vec<_> = cloud.ledger.journal(before, 100).await.unwrap();
    let kinds: Vec<&str> = binds.iter().map(|entry| entry.change.kind.as_str()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "job.bind").count(), 1, "{kinds:?}");
    // 1500m are held as two processors each: one beside the server, two alone.
    assert_eq!((cloud.used(a, "VCPU"), cloud.used(b, "VCPU")), (4, 4));
    let detail = cloud.job(job);
    assert_eq!(detail.summary.phase, JobPhase::Running);
    assert_eq!(detail.summary.conditions[0].kind, ConditionKind::Scheduled);
    for task in cloud.tasks(job) {
        assert_eq!((task.state, task.attempt), (TaskState::Bound, 1));
        let image = cloud.image();
        let consumer = image.consumers.get(task.id).unwrap();
        assert_eq!(consumer.consumer_type.as_deref(), Some("BATCH_TASK"));
        assert_eq!(&*consumer.project, "project");
        assert_eq!(consumer.allocations.len(), 3, "processors, memory and a place");
        let decision = consumer.origin.as_ref().unwrap().decision.unwrap();
        let stored = cloud.ledger.decision(decision).await.unwrap().unwrap();
        assert_eq!(
            (stored.header.kind.as_str(), stored.header.outcome.as_str()),
            ("job", "placed")
        );
        assert_eq!(stored.header.header["count"], 3);
    }
    let queue = views::queue(&cloud.image(), &cloud.dims(), "default").unwrap();
    assert_eq!(queue.status.allocated["VCPU"], 6);
    assert_eq!(queue.status.counts["Running"], 1);
    let root = views::queue(&cloud.image(), &cloud.dims(), "root").unwrap();
    assert_eq!(root.status.allocated, queue.status.allocated);
    assert_eq!(root.status.counts, queue.status.counts);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_room_for_all_nothing_is_placed_and_the_reason_stands() {
    let cloud = Cloud::new().await;
    let a = cloud.host("a", 4, 1.0).await;
    let server = cloud.claim(a, 2).await.unwrap();
    let job = cloud
        .submit(r#"{"tasks": [{"role": "worker", "count": 3, "requests": {"cpu": 1}}]}"#)
        .await;
    assert_eq!(cloud.cycle().await.binds, 0);
    let detail = cloud.job(job);
    assert_eq!(detail.summary.phase, JobPhase::Pending);
    let condition = &detail.summary.conditions[0];
    assert_eq!(condition.reason, "NotAdmitted");
    let limit = "queue default: of 2 cpu 0 are held and 0 promised, 3 are asked for";
    assert!(
        condition.message.ends_with(limit),
        "what the server holds is not shared: {condition:?}"
    );
    // A quiet cloud writes nothing.
    let quiet = cloud.image().seq();
    for _ in 0..5 {
        cloud.cycle().await;
        cloud.pass(1);
    }
    assert_eq!(cloud.image().seq(), quiet);
    // The server goes, the gang comes.
    let gone = move |image: &stowplan_ledger::Image| {
        stowplan_placement::claims::delete_allocations(image, server)
    };
    cloud.ledger.write("test", gone).await.unwrap();
    assert_eq!(cloud.cycle().await.binds, 3);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_holds_is_not_for_others_to_take() {
    use stowplan_placement::claims::{delete_allocations, replace_allocations};
    let cloud = Cloud::new().await;
    cloud.report("a", 2, 1.0, HostReport::default()).await;
    let job = cloud.submit(r#"{"tasks": [{"count": 1, "requests": {"cpu": 1}}]}"#).await;
    assert_eq!(cloud.cycle().await.binds, 1);
    let image = cloud.image();
    let job = image.batch.jobs.get(job).unwrap();
    let task = image.batch.tasks_of(job.id).next().unwrap().uuid;
    let refused = delete_allocations(&image, task).unwrap_err().to_string();
    assert!(refused.contains("is a task of a batch job"), "{refused}");
    let put = stowplan_placement::claims::ConsumerClaim {
        consumer: task,
        generation: stowplan_placement::claims::ConsumerGeneration::Unchecked,
        project: "p".to_owned(),
        user: "u".to_owned(),
        consumer_type: None,
        allocations: Vec::new(),
        origin: None,
    };
    let refused = replace_allocations(&image, &put, cloud.now()).unwrap_err().to_string();
    assert!(refused.contains("cancel the job instead"), "{refused}");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn ratios_and_places_for_tasks_count() {
    let cloud = Cloud::new().await;
    let a =
        cloud.report("a", 2, 2.0, HostReport { max_tasks: Some(3), ..HostReport::default() }).await;
    let job = cloud
        .submit(r#"{"min_available": 0, "tasks": [{"count": 10, "requests": {"cpu": 1}}]}"#)
        .await;
    assert_eq!(cloud.cycle().await.binds, 3);
    assert_eq!(cloud.used(a, "VCPU"), 3);
    let conditions = cloud.job(job).summary.conditions;
    assert!(conditions[0].message.contains("1 lack pods (needs 1, most left 0)"), "{conditions:?}");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_are_providers() {
    let cloud = Cloud::new().await;
    let device = |name: &str| Device {
        name: name.to_owned(),
        resource_class: "PGPU".to_owned(),
        total: 1,
        traits: Vec::new(),
        numa_node: None,
    };
    let devices = ["gpu0", "gpu1", "gpu2"].map(device).to_vec();
    cloud.report("a", 16, 1.0, HostReport { devices, ..HostReport::default() }).await;
    let job = cloud
        .submit(
            r#"{"min_available": 1, "tasks": [{"count": 2,
            "requests": {"cpu": 1, "nvidia.com/gpu": 2}}]}"#,
        )
        .await;
    assert_eq!(cloud.cycle().await.binds, 1);
    let image = cloud.image();
    let bound = cloud.tasks(job).into_iter().find(|task| task.host.is_some()).unwrap();
    let consumer = image.consumers.get(bound.id).unwrap();
    let gpus = consumer.allocations.iter().filter(|a| image.classes.name(a.class) == "PGPU");
    let names: Vec<_> =
        gpus.map(|a| image.providers.get(a.provider).unwrap().name.to_string()).collect();
    assert_eq!(names, ["a_gpu0", "a_gpu1"]);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn higher_priority_first_and_best_effort_last() {
    let cloud = Cloud::new().await;
    cloud.host("a", 2, 1.0).await;
    let low = cloud.submit(r#"{"tasks": [{"count": 2, "requests": {"cpu": 1}}]}"#).await;
    let high =
        cloud.submit(r#"{"priority": 5, "tasks": [{"count": 2, "requests": {"cpu": 1}}]}"#).await;
    let idle = cloud.submit(r#"{"tasks": [{"count": 2}]}"#).await;
    assert_eq!(cloud.cycle().await.binds, 4);
    assert_eq!(cloud.states(low).get("Pending"), Some(&2));
    assert_eq!(cloud.states(high).get("Bound"), Some(&2));
    assert_eq!(cloud.states(idle).get("Bound"), Some(&2));
    cloud.audit();
}

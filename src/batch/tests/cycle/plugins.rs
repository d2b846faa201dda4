//! Plugins that look at what the ledger keeps: quotas, groups of hosts, zones,
//! budgets.

use crate::cloud::Cloud;
use std::collections::BTreeMap;
use stowplan_batch::life::{JobPhase, TaskState};
use stowplan_batch::session::CellShare;
use stowplan_batch::store::{Cause, ReportedState, put_quota, read_quota};
use stowplan_batch::{explain, views};
use stowplan_model::Uuid;
use stowplan_model::host::HostReport;
use stowplan_model::host_devices::NumaCell;

async fn quota(cloud: &Cloud, project: &'static str, body: &'static str) {
    let (dims, now) = (cloud.dims(), cloud.now());
    let put = move |image: &_| {
        let request = read_quota(body.as_bytes())?;
        put_quota(image, project, &request, &dims, now)
    };
    cloud.act(put).await.unwrap();
}

fn labelled(key: &str, value: &str) -> HostReport {
    HostReport { labels: [(key.to_owned(), value.to_owned())].into(), ..HostReport::default() }
}

/// Tasks of a job by the node that they are on.
fn nodes(cloud: &Cloud, job: Uuid) -> BTreeMap<String, u32> {
    let mut nodes = BTreeMap::new();
    for task in cloud.tasks(job) {
        *nodes.entry(task.node.unwrap_or_default()).or_default() += 1;
    }
    nodes
}

fn on(node: &str, count: u32) -> BTreeMap<String, u32> {
    [(node.to_owned(), count)].into()
}

fn reasons(cloud: &Cloud, job: Uuid, kind: &str) -> Vec<String> {
    let told = explain::job(&cloud.image(), &cloud.settings, job, cloud.now()).unwrap().unwrap();
    told.reasons.into_iter().filter(|it| it.kind == kind).map(|it| it.text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_stays_within_its_quota() {
    let cloud = Cloud::new().await;
    cloud.host("a", 64, 1.0).await;
    quota(&cloud, "small", r#"{"hard": {"cpu": 4}}"#).await;
    let gang = |name: &str| {
        format!(
            r#"{{"name": "{name}", "namespace": "small",
                "tasks": [{{"count": 3, "requests": {{"cpu": 1}}}}]}}"#
        )
    };
    let first = cloud.submit(&gang("first")).await;
    let second = cloud.submit(&gang("second")).await;
    let other = cloud.submit(r#"{"namespace": "big", "tasks": [{"requests": {"cpu": 9}}]}"#).await;
    cloud.cycle().await;
    assert_eq!(nodes(&cloud, first), on("a", 3));
    assert_eq!(nodes(&cloud, other), on("a", 1));
    assert_eq!(cloud.job(second).summary.phase, JobPhase::Pending);
    let told = reasons(&cloud, second, "not_admitted");
    let expected = "plugin resourcequota does not admit it yet: \
                    project small would hold 6 cpu, its quota is 4";
    assert_eq!(told, [expected]);
    // One that names no minimum is admitted, but its tasks stay within it, too.
    let body = r#"{"namespace": "small", "min_resources": null, "min_available": 1,
        "tasks": [{"count": 3, "requests": {"cpu": 1}}]}"#;
    let elastic = cloud.submit(body).await;
    cloud.cycle().await;
    cloud.cycle().await;
    assert_eq!(cloud.states(elastic).get("Bound"), Some(&1));
    cloud.report_all(first, ReportedState::Succeeded).await;
    cloud.cycle().await;
    assert_eq!(nodes(&cloud, second), on("a", 3));
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_admitted_job_waits_for_counts_against_the_quota() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    cloud.host("b", 4, 1.0).await;
    quota(&cloud, "p", r#"{"hard": {"cpu": 9}}"#).await;
    let body = r#"{"namespace": "p", "tasks": [{"requests": {"cpu": 5}}]}"#;
    let first = cloud.submit(body).await;
    cloud.cycle().await;
    assert_eq!(cloud.job(first).summary.phase, JobPhase::Inqueue, "no host has room for it");
    let second = cloud.submit(body).await;
    cloud.cycle().await;
    assert_eq!(cloud.job(second).summary.phase, JobPhase::Pending);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_keeps_to_its_groups_of_hosts() {
    let mut cloud = Cloud::new().await;
    cloud.settings.batch.tiers[0].push("nodegroup".to_owned());
    cloud.host("plain", 8, 1.0).await;
    for (host, group) in [("r1", "red"), ("b1", "blue"), ("b2", "blue")] {
        cloud.report(host, 8, 1.0, labelled("volcano.sh/nodegroup-name", group)).await;
    }
    let red = r#"{"name": "red", "affinity": {"node_group_required": ["red"]}}"#;
    cloud.queue(red).await.unwrap();
    let blue = r#"{"name": "blue", "affinity": {"node_group_preferred": ["blue"]},
        "node_group_limits": {"blue": {"cpu": 3}}}"#;
    cloud.queue(blue).await.unwrap();
    let body = |queue: &str, count: u32| {
        format!(
            r#"{{"queue": "{queue}", "min_available": 1,
                "tasks": [{{"count": {count}, "requests": {{"cpu": 1}}}}]}}"#
        )
    };
    let of_red = cloud.submit(&body("red", 4)).await;
    let of_blue = cloud.submit(&body("blue", 5)).await;
    let of_none = cloud.submit(&body("default", 1)).await;
    cloud.cycle().await;
    cloud.cycle().await;
    assert_eq!(nodes(&cloud, of_red), on("r1", 4));
    let at = nodes(&cloud, of_blue);
    assert_eq!(at.get(""), Some(&2), "beyond the limit of three: {at:?}");
    assert!(at.keys().all(|node| node.is_empty() || node.starts_with('b')), "{at:?}");
    assert_eq!(nodes(&cloud, of_none), on("", 1), "strict: not even the host without a group");
    let wrong = r#"{"name": "x", "affinity": {"node_group_required": ["a", "a"]}}"#;
    let error = cloud.queue(wrong).await.unwrap_err().to_string();
    assert!(error.contains("affinity.node_group_required[1] is \"a\""), "{error}");
    cloud.patch("red", r#"{"affinity": {}}"#).await.unwrap();
    assert_eq!(
        views::queue(&cloud.image(), &cloud.dims(), "red").unwrap().spec.affinity,
        Some(stowplan_batch::session::NodeGroups::default())
    );
    cloud.audit();
}

/// A cloud with a host in a zone whose window opened at midnight for an hour;
/// the time is half past.
async fn night() -> Cloud {
    let mut cloud = Cloud::new().await;
    cloud.settings.batch.tiers[0].push("tdm".to_owned());
    cloud.settings.batch.actions.push("shuffle".to_owned());
    let tdm = [("tdm.revocable-zone.rz1", "0:00-1:00"), ("tdm.evict.period", "10m")];
    let tdm = tdm.map(|(name, value)| (name.to_owned(), value.to_owned()));
    cloud.settings.batch_plugins.insert("tdm".to_owned(), tdm.into());
    let day = 24 * 3600;
    let since_midnight = cloud.now().0 / 1_000_000 % day;
    cloud.pass(day - since_midnight + 1800);
    cloud.report("z", 8, 1.0, labelled("volcano.sh/revocable-zone", "rz1")).await;
    cloud
}

const MARKED: &str = r#"{"min_available": 1, "disruption_budget": {"max_unavailable": 2},
    "tasks": [{"count": 4, "requests": {"cpu": 1},
        "annotations": {"volcano.sh/revocable-zone": "*"}}]}"#;

fn leaving(cloud: &Cloud, job: Uuid) -> usize {
    let tasks = cloud.tasks(job).into_iter();
    tasks.filter(|task| task.leaving == Some(Cause::Shuffled)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_leave_a_zone_when_its_window_closes() {
    let cloud = night().await;
    let marked = cloud.submit(MARKED).await;
    let plain = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 1}}]}"#).await;
    cloud.cycle().await;
    cloud.cycle().await;
    assert_eq!(nodes(&cloud, marked), on("z", 4));
    assert_eq!(nodes(&cloud, plain), on("", 1), "it is not marked for zones");
    cloud.report_all(marked, ReportedState::Running).await;
    cloud.cancel(plain, false).await.unwrap();
    cloud.cycle().await;
    assert_eq!(leaving(&cloud, marked), 0, "the window is open");
    cloud.pass(1860);
    assert!(cloud.has_work(), "nobody waits, but the period is over");
    cloud.cycle().await;
    assert_eq!(leaving(&cloud, marked), 2, "as many as the budget allows");
    assert!(!cloud.has_work());
    cloud.cycle().await;
    assert_eq!(leaving(&cloud, marked), 2, "not asked again within the period");
    cloud.report_all(marked, ReportedState::Released).await;
    let gone = |cloud: &Cloud| {
        cloud.tasks(marked).iter().filter(|task| task.state == TaskState::Pending).count()
    };
    assert_eq!(gone(&cloud), 4, "all that were told to, and those that left by themselves");
    cloud.cycle().await;
    assert_eq!(nodes(&cloud, marked), on("", 4), "the zone is closed");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_keep_the_numa_cells_that_they_were_given() {
    let mut cloud = Cloud::new().await;
    cloud.settings.batch.tiers[0].push("numaaware".to_owned());
    let cell = |id: i64| NumaCell {
        id,
        cpuset: (4 * id..4 * id + 4).collect(),
        memory: 32_768,
        ..NumaCell::default()
    };
    let cells = HostReport { numa_cells: Some(vec![cell(0), cell(1)]), ..HostReport::default() };
    cloud.report("n", 8, 1.0, cells).await;
    let body = |cpu: u32| {
        format!(
            r#"{{"tasks": [{{"requests": {{"cpu": {cpu}, "memory": "1Gi"}},
                "annotations": {{"volcano.sh/numa-topology-policy": "single-numa-node"}}}}]}}"#
        )
    };
    let given = |cloud: &Cloud, job: Uuid| cloud.tasks(job)[0].numa_cells.clone();
    let share = |cell: i64, cpu: i64| CellShare { cell, cpu, memory: 1024 };
    let first = cloud.submit(&body(3)).await;
    cloud.cycle().await;
    assert_eq!(given(&cloud, first), [share(0, 3)]);
    // In a cycle of its own: what the first one holds is in the ledger.
    let (second, third) = (cloud.submit(&body(2)).await, cloud.submit(&body(3)).await);
    cloud.cycle().await;
    assert_eq!(given(&cloud, second), [share(1, 2)]);
    assert_eq!(nodes(&cloud, third), on("", 1), "five cores are free, but in no cell three");
    cloud.report_all(first, ReportedState::Running).await;
    cloud.report_all(first, ReportedState::Succeeded).await;
    cloud.cycle().await;
    assert_eq!(given(&cloud, third), [share(0, 3)]);
    cloud.audit();
}

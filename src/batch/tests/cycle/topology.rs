//! Topology domains and sub-groups, on a ledger.

use crate::cloud::Cloud;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_batch::BatchError;
use stowplan_batch::life::{JobPhase, TaskState};
use stowplan_batch::store::{
    ObjectKind, ReportedState, TaskReport, delete_object, put_domain, read_domain,
};
use stowplan_batch::views::TaskView;
use stowplan_model::Uuid;
use stowplan_model::host::HostReport;

impl Cloud {
    async fn domain(&self, name: &str, body: &str) -> Result<bool, BatchError> {
        let (request, now, name) = (read_domain(body.as_bytes())?, self.now(), name.to_owned());
        self.act(move |image| put_domain(image, &name, &request, now)).await
    }

    /// Hosts of a job's tasks, by task.
    fn hosts_of(&self, job: Uuid) -> BTreeMap<String, String> {
        let task = |task: TaskView| Some((format!("{}/{}", task.role, task.index), task.host?));
        self.tasks(job).into_iter().filter_map(task).collect()
    }

    fn racks_of(&self, job: Uuid) -> BTreeSet<String> {
        self.hosts_of(job).into_values().map(|host| host[..2].to_owned()).collect()
    }
}

/// Two hosts of so many cores in each of three racks, which report their rack;
/// two racks make a zone.
async fn racks(cpus: i64) -> Cloud {
    let cloud = Cloud::new().await;
    for rack in ["r0", "r1", "r2"] {
        for host in ["a", "b"] {
            let labels = [("rack".to_owned(), rack.to_owned())].into();
            let report = HostReport { labels, ..HostReport::default() };
            cloud.report(&format!("{rack}{host}"), cpus, 1.0, report).await;
        }
        let body = format!(
            r#"{{"tier": 1, "tier_name": "rack", "members": [{{"labels": {{"rack": "{rack}"}}}}]}}"#
        );
        cloud.domain(rack, &body).await.unwrap();
    }
    let zone = r#"{"tier": 2, "members": [{"type": "domain", "name": "r0"},
        {"type": "domain", "name": "r1"}]}"#;
    cloud.domain("z", zone).await.unwrap();
    cloud
}

fn gang(count: u32, cpus: u32, more: &str) -> String {
    format!(r#"{{"tasks": [{{"count": {count}, "requests": {{"cpu": {cpus}}}}}] {more}}}"#)
}

const RACK: &str = r#", "network_topology": {"highest_tier_name": "rack"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_hard_topology_keeps_a_gang_in_a_rack_or_lets_it_wait() {
    let cloud = racks(4).await;
    let fits = cloud.submit(&gang(4, 2, RACK)).await;
    let wide = cloud.submit(&gang(6, 2, RACK)).await;
    cloud.cycle().await;
    assert_eq!(cloud.racks_of(fits).len(), 1, "{:?}", cloud.hosts_of(fits));
    assert_eq!(cloud.hosts_of(fits).len(), 4);
    assert_eq!(cloud.states(wide).get("Pending"), Some(&6), "two racks would do");
    let message = cloud.job(wide).summary.conditions[0].message.clone();
    let why = "none of the 3 domains up to its highest tier can hold it: 0 have enough in sum";
    assert!(message.contains(why), "{message}");
    // Of tier 2 there is one with two racks.
    let zone = r#", "network_topology": {"mode": "hard", "highest_tier": 2}"#;
    cloud.cancel(wide, false).await.unwrap();
    let wide = cloud.submit(&gang(6, 2, zone)).await;
    cloud.cycle().await;
    let racks = cloud.racks_of(wide);
    let free: BTreeSet<String> = ["r0".to_owned(), "r1".to_owned()].into();
    // The first gang may be in the way; then it waits rather than leaving the zone.
    if cloud.racks_of(fits).is_disjoint(&free) {
        assert_eq!(racks, free);
    } else {
        assert!(racks.is_empty() || racks.is_subset(&free), "{racks:?}");
    }
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_later_goes_where_the_others_are() {
    let cloud = racks(8).await;
    let job = cloud.submit(&gang(6, 2, &format!(r#", "min_available": 2 {RACK}"#))).await;
    cloud.cycle().await;
    assert_eq!((cloud.hosts_of(job).len(), cloud.racks_of(job).len()), (6, 1));
    let rack = cloud.racks_of(job);
    cloud.report_all(job, ReportedState::Running).await;
    // Four more: two find room in the rack, the others wait.
    let update = r#"{"tasks": [{"role": "task", "count": 10}]}"#;
    let update = stowplan_batch::store::read_update(update.as_bytes()).unwrap();
    let now = cloud.now();
    let changed = move |image: &stowplan_ledger::Image| {
        stowplan_batch::store::update_job(image, job, &update, 1000, now)
    };
    cloud.act(changed).await.unwrap();
    cloud.cycle().await;
    assert_eq!((cloud.hosts_of(job).len(), cloud.racks_of(job)), (8, rack));
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn sub_groups_are_placed_whole_each_in_its_rack() {
    let cloud = racks(4).await;
    let parts = r#", "min_available": 4, "sub_groups": [{"name": "part", "size": 4,
        "min_groups": 1, "network_topology": {"highest_tier": 1}}]"#;
    let job = cloud.submit(&gang(16, 2, parts)).await;
    cloud.cycle().await;
    let placed = cloud.hosts_of(job);
    // Three racks of four places each.
    assert_eq!(placed.len(), 12);
    let mut by_part: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for (task, host) in &placed {
        let index: usize = task["task/".len()..].parse().unwrap();
        by_part.entry(index / 4).or_default().insert(&host[..2]);
    }
    assert!(by_part.values().all(|racks| racks.len() == 1), "{placed:?}");
    assert_eq!(by_part.len(), 3);
    // One that needs all its parts gets none of them.
    cloud.cancel(job, true).await.unwrap();
    let all = parts.replace(r#""min_groups": 1"#, r#""min_groups": 4"#);
    let job = cloud.submit(&gang(16, 2, &all)).await;
    cloud.cycle().await;
    assert!(cloud.hosts_of(job).is_empty());
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gang_is_made_room_for_in_one_domain() {
    let mut cloud = racks(4).await;
    cloud.settings.batch.actions =
        ["enqueue", "allocate", "gangpreempt"].map(str::to_owned).to_vec();
    // Every rack is full: two gangs that go whole, and one above its minimum.
    let low = |count, min| {
        format!(
            r#"{{"min_available": {min}, "network_topology": {{}},
                "tasks": [{{"count": {count}, "requests": {{"cpu": 2}}}}]}}"#
        )
    };
    let whole = [cloud.submit(&low(4, 4)).await, cloud.submit(&low(4, 4)).await];
    let elastic = cloud.submit(&low(4, 1)).await;
    cloud.cycle().await;
    for job in whole.into_iter().chain([elastic]) {
        assert_eq!(cloud.hosts_of(job).len(), 4);
        cloud.report_all(job, ReportedState::Running).await;
    }
    let high = format!(r#", "priority": 100 {RACK}"#);
    let high = cloud.submit(&gang(3, 2, &high)).await;
    cloud.cycle().await;
    // What can be spared goes first, where it suffices.
    let leaving = |job| {
        let tasks = cloud.tasks(job);
        tasks.into_iter().filter(|task| task.state == TaskState::Releasing).collect::<Vec<_>>()
    };
    let gone = leaving(elastic);
    assert_eq!(gone.len(), 3, "{:#?}", cloud.job(high));
    assert!(whole.into_iter().all(|job| leaving(job).is_empty()));
    let nominated: BTreeSet<String> =
        cloud.tasks(high).into_iter().filter_map(|task| task.nominated_host).collect();
    let racks: BTreeSet<&str> = nominated.iter().map(|host| &host[..2]).collect();
    assert_eq!((cloud.tasks(high).len(), racks.len()), (3, 1), "{nominated:?}");
    for task in &gone {
        assert!(cloud.hosts_of(high).is_empty(), "no gang in part");
        let report = TaskReport {
            task: task.id,
            attempt: task.attempt,
            state: ReportedState::Released,
            exit_code: None,
            message: None,
        };
        cloud.task_reports(vec![report]).await;
    }
    assert_eq!((cloud.hosts_of(high).len(), cloud.racks_of(high).len()), (3, 1));
    assert_eq!(cloud.job(high).summary.phase, JobPhase::Running);
    for _ in 0..3 {
        cloud.cycle().await;
    }
    assert_eq!(cloud.hosts_of(elastic).len(), 1, "its others wait");
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn domains_form_a_tree() {
    let cloud = racks(4).await;
    for (name, body, why) in [
        ("a", r#"{"tier": 0}"#, "tier is 0: expected a whole number from 1 to 100"),
        ("<top>", r#"{"tier": 1}"#, "domain is \"<top>\": expected another name"),
        (
            "a",
            r#"{"tier": 2, "members": [{"type": "domain", "name": "r0"}]}"#,
            "members[0].name is \"r0\": expected a domain that is a member of no other",
        ),
        (
            "a",
            r#"{"tier": 1, "members": [{"type": "domain", "name": "r2"}]}"#,
            "expected a domain of a tier below 1; it has 1",
        ),
        ("r0", r#"{"tier": 2}"#, "tier is 2: expected below 2, the tier of domain \"z\""),
        ("a", r#"{"tier": 2, "tier_name": "rack"}"#, "expected a name that tier 1 has not"),
        ("a", r#"{"tier": 1, "members": [{}]}"#, "expected the name of a host, or else labels"),
        ("a", r#"{"tier": 1, "members": [{"nmae": "x"}]}"#, "nmae"),
    ] {
        let refused = cloud.domain(name, body).await.unwrap_err().to_string();
        assert!(refused.contains(why), "{body}: {refused}");
    }
    let host = r#"{"tier": 1, "members": [{"name": "r9a"}]}"#;
    assert_eq!(cloud.domain("r8", host).await, Ok(true));
    assert_eq!(cloud.domain("r8", host).await, Ok(false));
    let refused = cloud.domain("r9", host).await.unwrap_err().to_string();
    let why = "members[0].name is \"r9a\": expected a host in no other domain of tier 1";
    assert!(refused.contains(why), "{refused}");
    cloud.act(|image| delete_object(image, ObjectKind::Domain, "r8")).await.unwrap();
    assert_eq!(cloud.domain("r9", host).await, Ok(true));
}

//! Many requests at once: nothing is ever broken, nothing fails for want of
//! patience.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stowplan_scheduler::select::read_request;
use stowplan_scheduler::{Call, SchedulerError};

use crate::cloud::{CALL, Cloud, NOW, refused, small, small_with};

/// Sends the same request many times at once; the hosts of those that found
/// one, and how many did not.
async fn at_once(cloud: &Cloud, times: usize, asked: &Value) -> (Vec<String>, usize) {
    let mut tasks = Vec::new();
    for _ in 0..times {
        let scheduler = cloud.scheduler.clone();
        let asked = read_request(asked.to_string().as_bytes()).unwrap();
        tasks.push(tokio::spawn(async move {
            let call = Call { request_id: CALL.request_id, now: NOW };
            refused(scheduler.select_destinations(call, asked, ("p", "u")).await)
        }));
    }
    let (mut hosts, mut without) = (Vec::new(), 0);
    for task in tasks {
        match task.await.unwrap() {
            Ok(answer) => hosts.extend(answer.selections.into_iter().map(|s| s.destination.host)),
            Err(SchedulerError::NoValidHost(_)) => without += 1,
            Err(other) => panic!("{other}"),
        }
    }
    hosts.sort();
    (hosts, without)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_requests_on_fifty_units() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 10, 5).await;
    let (hosts, without) = at_once(&cloud, 60, &small()).await;
    assert_eq!((hosts.len(), without), (50, 10));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    hosts.into_iter().for_each(|host| *counts.entry(host).or_default() += 1);
    assert!(counts.values().all(|count| *count == 5), "{counts:?}");
    assert_eq!(cloud.image().consumers.len(), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn anti_affinity_is_kept_exactly() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 6, 500).await;
    let all = ["h0", "h1", "h2", "h3", "h4", "h5"].map(String::from).to_vec();
    for run in 0..200 {
        // As many as there are hosts, or more.
        let more = if run % 10 == 0 { 2 } else { 0 };
        let group = cloud.group("anti-affinity").await;
        let asked = small_with(json!({"group": group}));
        let (hosts, without) = at_once(&cloud, 6 + more, &asked).await;
        assert_eq!((&hosts, without), (&all, more), "{run}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn first_members_of_an_affinity_group_meet() {
    let cloud = Cloud::with(|settings| {
        // Without chance all of them would choose the same host anyway.
        settings.filter_scheduler.host_subset_size = 6;
    })
    .await;
    cloud.hosts("h", 6, 900).await;
    for run in 0..200 {
        let group = cloud.group("affinity").await;
        let (mut hosts, without) = at_once(&cloud, 6, &small_with(json!({"group": group}))).await;
        assert_eq!((hosts.len(), without), (6, 0), "{run}");
        hosts.dedup();
        assert_eq!(hosts.len(), 1, "{run}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_servers_at_once_are_whole_or_not() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 4, 8).await;
    let (hosts, without) = at_once(&cloud, 8, &small_with(json!({"count": 5}))).await;
    assert_eq!((hosts.len(), without), (30, 2));
    assert_eq!(cloud.image().consumers.len(), 30);
}

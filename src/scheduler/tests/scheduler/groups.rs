//! Server groups: made, joined, left.

use serde_json::json;
use stowplan_model::Uuid;
use stowplan_scheduler::SchedulerError;
use stowplan_scheduler::groups::{living_members, read_new_group};

use stowplan_scheduler::select::Destinations;

use crate::cloud::{CALL, Cloud, refused, small_with, uuid};

impl Cloud {
    /// Makes a server group.
    pub async fn group(&self, policy: &str) -> Uuid {
        self.try_group(json!({"name": policy, "policy": policy})).await.unwrap()
    }

    pub async fn try_group(&self, body: serde_json::Value) -> Result<Uuid, SchedulerError> {
        let new = read_new_group(body.to_string().as_bytes())?;
        refused(self.scheduler.create_group(CALL, new).await).map(|row| row.uuid)
    }

    fn members(&self, group: Uuid) -> Vec<Uuid> {
        self.image().server_groups.get(group).unwrap().members.clone()
    }
}

#[tokio::test]
async fn fields_of_a_group() {
    let cloud = Cloud::new().await;
    for (body, field) in [
        (json!({"policy": "affinity"}), "name is \"\""),
        (json!({"name": "g"}), "policy is null"),
        (json!({"name": "g", "policy": "far"}), "policy is \"far\""),
        (
            json!({"name": "g", "policy": "affinity", "rules": {"max_server_per_host": 2}}),
            "rules.max_server_per_host is 2",
        ),
        (
            json!({"name": "g", "policy": "anti-affinity", "rules": {"max_server_per_host": 0}}),
            "rules.max_server_per_host is 0",
        ),
    ] {
        let refusal = cloud.try_group(body).await.unwrap_err();
        assert_eq!(refusal.status(), 400);
        assert!(refusal.to_string().starts_with(field), "{refusal}");
    }
}

#[tokio::test]
async fn servers_join_as_they_are_placed_and_leave_when_told() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 3, 4).await;
    let group = cloud.group("anti-affinity").await;
    let asked = small_with(json!({"group": group, "count": 3}));
    let placed = cloud.select(asked).await;
    let servers: Vec<Uuid> = placed.selections.iter().map(|s| s.instance_uuid).collect();
    assert_eq!(cloud.members(group), servers);
    let mut hosts: Vec<_> = placed.selections.iter().map(|s| s.destination.host.clone()).collect();
    hosts.sort();
    assert_eq!(hosts, ["h0", "h1", "h2"]);

    let full = cloud.no_host(small_with(json!({"group": group}))).await;
    assert!(full.reasons[0].contains("ServerGroupAntiAffinityFilter"), "{full}");
    assert_eq!(cloud.members(group).len(), 3, "who was not placed did not join");

    // A server whose allocations are away for a while stays a member.
    let server = servers[0];
    let free = move |image: &stowplan_ledger::Image| {
        stowplan_placement::claims::delete_allocations(image, server)
    };
    cloud.scheduler.ledger().write("req", free).await.unwrap();
    assert_eq!(cloud.members(group), servers);
    let image = cloud.image();
    let row = image.server_groups.get(group).unwrap();
    assert_eq!(living_members(&image, row).collect::<Vec<_>>(), servers[1..]);
    let key = group.to_string();
    refused(cloud.scheduler.leave_group(CALL, &key, server).await).unwrap();
    assert_eq!(cloud.members(group), servers[1..]);
    refused(cloud.scheduler.delete_group(CALL, &key).await).unwrap();
    let refusal = cloud.try_select(small_with(json!({"group": group}))).await.unwrap_err();
    assert_eq!(refusal.status(), 404);
}

#[tokio::test]
async fn anti_affinity_with_a_limit() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 8).await;
    let body = json!({"name": "g", "policy": "anti-affinity", "rules": {"max_server_per_host": 2}});
    let group = cloud.try_group(body).await.unwrap();
    cloud.select(small_with(json!({"group": group, "count": 4}))).await;
    cloud.no_host(small_with(json!({"group": group}))).await;
}

#[tokio::test]
async fn a_group_in_the_request_is_merged_with_the_ledgers() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 3, 8).await;
    let group = cloud.group("affinity").await;
    let first = cloud.select(small_with(json!({"group": group}))).await;
    let host = &first.selections[0].destination.host;
    let inline = json!({"uuid": group, "policy": "affinity", "members": [], "hosts": []});
    let second = cloud.select(small_with(json!({"group": inline}))).await;
    assert_eq!(&second.selections[0].destination.host, host);
    assert_eq!(cloud.members(group).len(), 2);
    let elsewhere = json!({"policy": "affinity", "hosts": ["h9"]});
    let refusal = cloud.no_host(small_with(json!({"group": elsewhere}))).await;
    assert!(refusal.reasons[0].contains("h9"), "{refusal}");
}

#[tokio::test]
async fn a_group_that_only_requests_know_is_heeded_and_not_made() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 8).await;
    // Neither request knows of the other's server.
    let group = json!({"uuid": uuid(77), "policy": "anti-affinity", "members": [], "hosts": []});
    let first = cloud.select(small_with(json!({"group": group}))).await;
    let second = cloud.select(small_with(json!({"group": group}))).await;
    let host = |found: &Destinations| found.selections[0].destination.host.clone();
    assert_ne!(host(&first), host(&second));
    cloud.no_host(small_with(json!({"group": group}))).await;
    // What the request says of the group is what counts.
    let loose = json!({"uuid": uuid(77), "policy": "soft-anti-affinity"});
    cloud.select(small_with(json!({"group": loose}))).await;
    let hosts = json!({"uuid": uuid(78), "policy": "anti-affinity", "members": [
        first.selections[0].instance_uuid]});
    let third = cloud.select(small_with(json!({"group": hosts}))).await;
    assert_eq!(host(&third), host(&second));
    assert_eq!(cloud.scheduler.ledger().image().server_groups.len(), 0);
}

#[tokio::test]
async fn a_project_has_its_quota_of_groups() {
    let cloud = Cloud::with(|settings| settings.quota.server_groups = 1).await;
    let scheduler = &cloud.scheduler;
    let make = |project: &'static str| {
        let body = json!({"name": "g", "policy": "affinity", "project_id": project});
        let new = read_new_group(body.to_string().as_bytes()).unwrap();
        async move { refused(scheduler.create_group_within(CALL, new).await).map(|row| row.uuid) }
    };
    let one = make("p").await.unwrap();
    let refusal = make("p").await.unwrap_err();
    assert_eq!(refusal.to_string(), "project p has 1 server groups, and may have 1");
    assert_eq!(refusal.status(), 403);
    make("q").await.unwrap();
    refused(cloud.scheduler.delete_group(CALL, &one.to_string()).await).unwrap();
    make("p").await.unwrap();
    // Our own surface has no quota.
    cloud.group("affinity").await;
}

#[tokio::test]
async fn rules_need_compute_services_that_know_them() {
    let cloud = Cloud::new().await;
    let scheduler = &cloud.scheduler;
    let make = |limit: i64| {
        let rules = json!({"max_server_per_host": limit});
        let body = json!({"name": "g", "policy": "anti-affinity", "rules": rules});
        let new = read_new_group(body.to_string().as_bytes()).unwrap();
        async move { refused(scheduler.create_group_within(CALL, new).await).map(|row| row.uuid) }
    };
    make(2).await.unwrap();
    cloud.report("h1", json!({"service": {"version": 70}})).await;
    cloud.report("h2", json!({"service": {"version": 0}})).await;
    make(2).await.unwrap();
    cloud.report("h3", json!({"service": {"version": 32}})).await;
    let refusal = make(2).await.unwrap_err();
    assert!(matches!(refusal, SchedulerError::GroupRulesTooNew { version: 32, .. }), "{refusal}");
    make(1).await.unwrap();
}

#[tokio::test]
async fn servers_of_one_request_heed_each_other() {
    // One host is so much better than the other that both would go there.
    let cloud = Cloud::new().await;
    cloud.hosts("large", 1, 64).await;
    cloud.hosts("small", 1, 2).await;
    let group = cloud.group("anti-affinity").await;
    let asked = |count: i64| small_with(json!({"group": group, "count": count}));
    let refusal = cloud.no_host(asked(3)).await;
    assert!(refusal.reasons[0].contains("2 of the servers"), "{refusal}");
    assert!(cloud.image().consumers.is_empty(), "nothing is left claimed");
    assert!(cloud.members(group).is_empty());
    let inline = json!({"policy": "anti-affinity", "members": [], "hosts": []});
    for asked in [small_with(json!({"group": inline, "count": 2})), asked(2)] {
        let placed = cloud.select(asked).await;
        let hosts: Vec<&str> =
            placed.selections.iter().map(|s| s.destination.host.as_str()).collect();
        assert_eq!(hosts, ["large0", "small0"]);
    }
}

//! Host aggregates and their mirror in Placement.

use std::collections::BTreeMap;

use serde_json::json;
use stowplan_model::Uuid;
use stowplan_scheduler::SchedulerError;
use stowplan_scheduler::aggregates::{AggregateUpdate, NewAggregate};
use stowplan_scheduler::hosts::zone_of;

use crate::cloud::{CALL, Cloud, host, refused, small, small_with};

impl Cloud {
    /// Makes a host aggregate, a zone if it is named.
    pub async fn aggregate(&self, name: &str, zone: Option<&str>, hosts: &[&str]) -> Uuid {
        self.try_aggregate(name, zone, hosts).await.unwrap()
    }

    async fn try_aggregate(
        &self,
        name: &str,
        zone: Option<&str>,
        hosts: &[&str],
    ) -> Result<Uuid, SchedulerError> {
        let new = NewAggregate {
            name: name.to_owned(),
            availability_zone: zone.map(str::to_owned),
            metadata: BTreeMap::new(),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        refused(self.scheduler.create_aggregate(CALL, new).await).map(|row| row.uuid)
    }

    pub fn mirror(&self, node: &str) -> Vec<Uuid> {
        let image = self.image();
        let at = image.providers.find_name(node).unwrap();
        let aggregates = image.providers.get(at).unwrap().aggregates.clone();
        let mut uuids: Vec<Uuid> = aggregates.iter().map(|ix| image.aggregates.uuid(*ix)).collect();
        uuids.sort();
        uuids
    }
}

#[tokio::test]
async fn membership_is_mirrored_with_a_generation() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let before = cloud.generation("h1");
    let fast = cloud.aggregate("fast", None, &["h1", "h2"]).await;
    assert_eq!(cloud.mirror("h1"), [fast]);
    assert_eq!(cloud.generation("h1"), before + 1);
    cloud.report("h2", host(4)).await;
    assert_eq!(cloud.mirror("h2"), [fast], "a host reported later joins then");

    let key = fast.to_string();
    let added = refused(cloud.scheduler.add_to_aggregate(CALL, &key, "h1").await).unwrap();
    assert!(!added.added);
    refused(cloud.scheduler.remove_from_aggregate(CALL, &key, "h1").await).unwrap();
    assert!(cloud.mirror("h1").is_empty());
    let refusal =
        refused(cloud.scheduler.remove_from_aggregate(CALL, &key, "h1").await).unwrap_err();
    assert_eq!(refusal.status(), 404);
    let refusal = refused(cloud.scheduler.delete_aggregate(CALL, &key).await).unwrap_err();
    assert_eq!(refusal.to_string(), "host aggregate fast has hosts: h2");
    refused(cloud.scheduler.delete_host(CALL, "h2", None).await).unwrap();
    refused(cloud.scheduler.delete_aggregate(CALL, "1").await).unwrap();
    assert!(cloud.image().host_aggregates.is_empty());
}

#[tokio::test]
async fn a_host_is_in_one_zone() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 4).await;
    let a = cloud.aggregate("a", Some("east"), &["h0"]).await;
    let refusal = cloud.try_aggregate("b", Some("west"), &["h0"]).await.unwrap_err();
    assert!(matches!(refusal, SchedulerError::ZoneConflict { .. }), "{refusal}");
    cloud.aggregate("c", Some("east"), &["h0"]).await;
    let taken = cloud.try_aggregate("a", None, &[]).await.unwrap_err();
    assert_eq!(taken, SchedulerError::AggregateName("a".to_owned()));
    let update = |zone: &str| AggregateUpdate {
        metadata: BTreeMap::from([("availability_zone".to_owned(), Some(zone.to_owned()))]),
        ..AggregateUpdate::default()
    };
    let key = a.to_string();
    let refusal =
        refused(cloud.scheduler.update_aggregate(CALL, &key, update("west")).await).unwrap_err();
    assert!(matches!(refusal, SchedulerError::ZoneConflict { .. }), "{refusal}");
    let refusal =
        refused(cloud.scheduler.update_aggregate(CALL, &key, update(" ")).await).unwrap_err();
    assert_eq!(refusal.status(), 400);
}

#[tokio::test]
async fn a_zone_does_not_change_under_servers() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let a = cloud.aggregate("a", Some("east"), &["h1"]).await.to_string();
    cloud.select(small()).await;
    let refusal = refused(cloud.scheduler.remove_from_aggregate(CALL, &a, "h1").await).unwrap_err();
    assert!(matches!(refusal, SchedulerError::ZoneInUse { .. }), "{refusal}");
}

#[tokio::test]
async fn zones_bind_requests() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 3, 4).await;
    cloud.aggregate("a", Some("east"), &["h1"]).await;
    assert_eq!(zone_of(&cloud.image(), "h1"), Some("east"));
    for _ in 0..4 {
        let there = cloud.select(small_with(json!({"availability_zone": "east"}))).await;
        let destination = &there.selections[0].destination;
        assert_eq!(
            (destination.host.as_str(), destination.availability_zone.as_str()),
            ("h1", "east")
        );
    }
    let full = cloud.no_host(small_with(json!({"availability_zone": "east"}))).await;
    assert!(full.reasons[0].contains("1024 MEMORY_MB"), "{full}");
    let refusal =
        cloud.try_select(small_with(json!({"availability_zone": "north"}))).await.unwrap_err();
    assert_eq!(refusal, SchedulerError::ZoneNotFound("north".to_owned()));
    let there = cloud.select(small_with(json!({"availability_zone": "nova"}))).await;
    assert_eq!(there.selections[0].destination.availability_zone, "nova");
}

#[tokio::test]
async fn the_compute_api_adds_known_hosts_once() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let fast = cloud.aggregate("fast", None, &[]).await;
    let scheduler = &cloud.scheduler;
    let add = |host: &'static str| async move {
        refused(scheduler.add_known_to_aggregate(CALL, "1", host).await)
    };
    assert_eq!(add("h1").await.unwrap().hosts, ["h1"]);
    assert_eq!(cloud.mirror("h1"), [fast]);
    let again = add("h1").await.unwrap_err();
    assert_eq!(again.to_string(), "host h1 is in host aggregate fast already");
    assert_eq!(again.status(), 409);
    assert_eq!(add("h2").await.unwrap_err().status(), 404);
}

#[tokio::test]
async fn a_zone_given_twice_is_the_same_zone_and_no_longer_than_is_kept() {
    let cloud = Cloud::new().await;
    let key = cloud.aggregate("a", Some("east"), &[]).await.to_string();
    let update = |zone: &str, metadata: Option<Option<&str>>| AggregateUpdate {
        availability_zone: Some(zone.to_owned()),
        metadata: metadata
            .map(|there| ("availability_zone".to_owned(), there.map(str::to_owned)))
            .into_iter()
            .collect(),
        ..AggregateUpdate::default()
    };
    let long = "z".repeat(256);
    for (zone, metadata) in
        [("west", Some(Some("north"))), ("west", Some(None)), (long.as_str(), None), ("", None)]
    {
        let update = update(zone, metadata);
        let refused = refused(cloud.scheduler.update_aggregate(CALL, &key, update).await);
        assert_eq!(refused.unwrap_err().status(), 400, "{zone} {metadata:?}");
    }
    assert_eq!(cloud.try_aggregate("b", Some(&long), &[]).await.unwrap_err().status(), 400);
    for (zone, metadata) in [("west", Some(Some("west"))), (&long[..255], None)] {
        let update = update(zone, metadata);
        let row = refused(cloud.scheduler.update_aggregate(CALL, &key, update).await).unwrap();
        assert_eq!(row.metadata["availability_zone"], zone);
    }
}

//! Routed networks and ports that are managed remotely.

use std::future::ready;
use std::sync::Arc;

use crate::cloud::{CALL, Cloud, NOW, host, small_with, uuid};
use serde_json::{Value, json};
use stowplan_model::Uuid;
use stowplan_placement::membership::set_aggregates;
use stowplan_placement::providers::{NewProvider, create_provider};
use stowplan_scheduler::select::{NetworkFault, Networks, PortFacts, Reply};
use stowplan_scheduler::{Answer, SchedulerError};

const NETWORK: u128 = 100;
const FLAT: u128 = 101;
const MISCONFIGURED: u128 = 102;
const SUBNET: u128 = 200;
const SEGMENTS: [u128; 2] = [300, 301];
const PORT_WITH_ADDRESS: u128 = 400;
const PORT_WITHOUT: u128 = 401;
const SMART_PORT: u128 = 402;
const AGGREGATES: [u128; 2] = [500, 501];

/// A Neutron with one routed network of two segments.
struct Neutron;

impl Networks for Neutron {
    fn segments_of_network(&self, network: Uuid) -> Reply<'_, Vec<Uuid>> {
        let segments = match network {
            it if it == uuid(NETWORK) => Ok(SEGMENTS.map(uuid).to_vec()),
            it if it == uuid(MISCONFIGURED) => Ok(vec![uuid(999)]),
            it if it == uuid(FLAT) => Ok(Vec::new()),
            _ => Err(away()),
        };
        Box::pin(ready(segments))
    }

    fn segment_of_subnet(&self, subnet: Uuid) -> Reply<'_, Option<Uuid>> {
        Box::pin(ready(Ok((subnet == uuid(SUBNET)).then(|| uuid(SEGMENTS[1])))))
    }

    fn port(&self, port: Uuid) -> Reply<'_, PortFacts> {
        let facts = |subnet: Option<u128>, is_remote_managed| PortFacts {
            network: uuid(NETWORK),
            subnet: subnet.map(uuid),
            is_remote_managed,
        };
        let facts = match port {
            it if it == uuid(PORT_WITH_ADDRESS) => Ok(facts(Some(SUBNET), false)),
            it if it == uuid(PORT_WITHOUT) => Ok(facts(None, false)),
            it if it == uuid(SMART_PORT) => Ok(facts(None, true)),
            _ => Err(NetworkFault::Unknown(format!("there is no port {port}"))),
        };
        Box::pin(ready(facts))
    }
}

/// A Neutron that does not answer.
struct Away;

impl Networks for Away {
    fn segments_of_network(&self, _: Uuid) -> Reply<'_, Vec<Uuid>> {
        Box::pin(ready(Err(away())))
    }

    fn segment_of_subnet(&self, _: Uuid) -> Reply<'_, Option<Uuid>> {
        Box::pin(ready(Err(away())))
    }

    fn port(&self, _: Uuid) -> Reply<'_, PortFacts> {
        Box::pin(ready(Err(away())))
    }
}

fn away() -> NetworkFault {
    NetworkFault::Away("Neutron is down".to_owned())
}

/// Three hosts: one in each segment, and a larger one in none.
async fn cloud(routed: bool) -> Cloud {
    let mut cloud = Cloud::with(|settings| {
        settings.scheduler.query_placement_for_routed_network_aggregates = routed;
    })
    .await;
    cloud.scheduler = cloud.scheduler.with_networks(Arc::new(Neutron));
    for (name, vcpus) in [("in-0", 4), ("in-1", 4), ("outside", 64)] {
        cloud.report(name, host(vcpus)).await;
    }
    for (place, segment) in SEGMENTS.into_iter().enumerate() {
        let new =
            NewProvider { uuid: uuid(segment), name: format!("segment-{place}"), parent: None };
        let write = move |image: &_| create_provider(image, &new, NOW);
        cloud.scheduler.ledger().write("req-segment", write).await.unwrap();
        let image = cloud.image();
        let name = format!("in-{place}");
        let node = image.hosts.find(&name, &name).unwrap().row.uuid;
        for provider in [uuid(segment), node] {
            let aggregates = [uuid(AGGREGATES[place])];
            let write = move |image: &_| set_aggregates(image, provider, None, &aggregates);
            cloud.scheduler.ledger().write("req-aggregates", write).await.unwrap();
        }
    }
    cloud
}

/// Hosts of a server that attaches to these, the chosen one first.
async fn hosts(cloud: &Cloud, networks: Value) -> Result<Vec<String>, SchedulerError> {
    let asked = json!({"dry_run": true, "alternates": 5, "requested_networks": networks});
    let answer = cloud.try_select(small_with(asked)).await?;
    let selection = &answer.selections[0];
    let all = std::iter::once(&selection.destination).chain(&selection.alternates);
    let mut hosts: Vec<String> = all.map(|it| it.host.clone()).collect();
    hosts.sort();
    Ok(hosts)
}

#[tokio::test]
async fn servers_stay_in_the_segments_of_their_networks() {
    let cloud = cloud(true).await;
    for (networks, expected) in [
        (json!([]), &["in-0", "in-1", "outside"][..]),
        (json!([{"network_id": uuid(NETWORK)}]), &["in-0", "in-1"]),
        (json!([{"network_id": uuid(FLAT)}]), &["in-0", "in-1", "outside"]),
        (json!([{}]), &["in-0", "in-1", "outside"]),
        // A port with an address stays where that is; one without may choose.
        (json!([{"port_id": uuid(PORT_WITH_ADDRESS)}]), &["in-1"]),
        (json!([{"port_id": uuid(PORT_WITHOUT)}]), &["in-0", "in-1"]),
        (json!([{"network_id": uuid(NETWORK)}, {"port_id": uuid(PORT_WITH_ADDRESS)}]), &["in-1"]),
        // What the caller knows is not asked for.
        (json!([{"network_id": uuid(7), "segments": [uuid(SEGMENTS[0])]}]), &["in-0"]),
    ] {
        assert_eq!(hosts(&cloud, networks.clone()).await.unwrap(), expected, "{networks}");
    }
    let asked = json!([{"network_id": uuid(MISCONFIGURED)}]);
    let fault = hosts(&cloud, asked).await.unwrap_err();
    assert_eq!(fault.status(), 409);
    assert_eq!(
        fault.to_string(),
        format!(
            "Neutron routed networks configuration is invalid: Failed to find aggregate related \
             to segment {}.",
            uuid(999)
        )
    );
}

#[tokio::test]
async fn without_the_option_segments_count_for_nothing() {
    let cloud = cloud(false).await;
    let asked = json!([{"network_id": uuid(NETWORK)}, {"segments": [uuid(SEGMENTS[0])]}]);
    assert_eq!(hosts(&cloud, asked).await.unwrap(), ["in-0", "in-1", "outside"]);
}

#[tokio::test]
async fn ports_that_are_managed_remotely_need_hosts_that_can() {
    let cloud = cloud(false).await;
    let port = json!([{"port_id": uuid(SMART_PORT)}]);
    assert!(matches!(hosts(&cloud, port.clone()).await, Err(SchedulerError::NoValidHost(_))));
    let mut able = host(4);
    able["traits"] = json!(["COMPUTE_REMOTE_MANAGED_PORTS"]);
    cloud.report("able", able).await;
    assert_eq!(hosts(&cloud, port).await.unwrap(), ["able"]);
    let plain = json!([{"port_id": uuid(PORT_WITHOUT)}]);
    assert_eq!(hosts(&cloud, plain).await.unwrap().len(), 4);
}

#[tokio::test]
async fn what_neutron_does_not_know_or_say_fails_the_request() {
    let cloud = cloud(true).await;
    for (networks, status, told) in [
        (json!([{"port_id": uuid(1)}]), 400, "there is no port"),
        (json!([{"network_id": uuid(2)}]), 503, "Neutron is down"),
    ] {
        let fault = hosts(&cloud, networks).await.unwrap_err();
        assert_eq!(fault.status(), status);
        assert!(fault.to_string().contains(told), "{fault}");
    }
}

#[tokio::test]
async fn what_was_answered_before_asks_nobody() {
    let mut cloud = cloud(true).await;
    let asked = |id: u128| small_with(json!({"requested_networks": [{"network_id": uuid(id)}]}));
    let Answer::Now(first) = cloud.once(CALL, "k", asked(NETWORK)).await.unwrap() else {
        panic!("nothing was answered before");
    };
    cloud.scheduler = cloud.scheduler.with_networks(Arc::new(Away));
    let written = serde_json::to_string(&first).unwrap();
    assert_eq!(cloud.once(CALL, "k", asked(NETWORK)).await.unwrap(), Answer::Before(written));
    assert_eq!(cloud.once(CALL, "k", asked(FLAT)).await.unwrap_err().status(), 422);
    assert_eq!(cloud.once(CALL, "l", asked(NETWORK)).await.unwrap_err().status(), 503);
    let outcomes = cloud.scheduler.tally().outcomes().filter(|(_, of)| of.count > 0);
    let outcomes: Vec<_> = outcomes.map(|(name, of)| (name, of.count)).collect();
    assert_eq!(outcomes, [("placed", 1), ("repeated", 1), ("failed", 1)]);
}

#[tokio::test]
async fn a_decision_keeps_what_was_learnt() {
    let cloud = cloud(true).await;
    let asked = json!({"requested_networks": [{"port_id": uuid(PORT_WITH_ADDRESS)}]});
    let answer = cloud.select(small_with(asked)).await;
    cloud.scheduler.drain().await;
    let id = answer.decision_id.unwrap().to_string();
    let kept = cloud.scheduler.decision(&id).await.unwrap().body.unwrap();
    let kept = serde_json::to_value(&kept).unwrap();
    let network = &kept["request"]["requested_networks"][0];
    assert_eq!(network["segments"], json!([uuid(SEGMENTS[1])]));
    assert_eq!(network["remote_managed"], json!(false));
}

//! Services as operators change them, and zones.

use serde_json::json;
use stowplan_model::Uuid;
use stowplan_scheduler::SchedulerError;
use stowplan_scheduler::hosts::{ServiceKey, ServiceStatus, ServiceUpdate, ZoneNames, zones};

use crate::cloud::{CALL, Cloud, host, refused, small, uuid};

const DISABLED: &str = "COMPUTE_STATUS_DISABLED";

fn on(host: &str, binary: &str) -> ServiceKey {
    ServiceKey::On { host: host.to_owned(), binary: binary.to_owned() }
}

fn disable(reason: Option<&str>) -> ServiceUpdate {
    let status = Some(ServiceStatus::Disabled(reason.map(str::to_owned)));
    ServiceUpdate { status, forced_down: None }
}

fn enable() -> ServiceUpdate {
    ServiceUpdate { status: Some(ServiceStatus::Enabled), forced_down: None }
}

impl Cloud {
    async fn operate(&self, key: ServiceKey, update: ServiceUpdate) -> Result<(), SchedulerError> {
        refused(self.scheduler.update_service(CALL, key, update).await).map(|_| ())
    }

    async fn retire(&self, key: ServiceKey) -> Result<(), SchedulerError> {
        refused(self.scheduler.delete_service(CALL, key).await).map(|_| ())
    }

    fn is_marked(&self, node: &str) -> bool {
        self.traits(node).iter().any(|name| name == DISABLED)
    }
}

#[tokio::test]
async fn a_disabled_service_is_out_of_scheduling_until_it_is_enabled() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let before = cloud.generation("h1");
    cloud.operate(on("h1", "nova-compute"), disable(Some("memory"))).await.unwrap();
    assert!(cloud.is_marked("h1"));
    assert_eq!(cloud.generation("h1"), before + 1);
    cloud.no_host(small()).await;
    cloud.report("h1", host(4)).await;
    cloud.report("h1", host(8)).await;
    assert!(cloud.is_marked("h1"), "a report that says nothing of it changes nothing of it");
    let seq = cloud.image().seq();
    cloud.operate(on("h1", "nova-compute"), disable(Some("memory"))).await.unwrap();
    assert_eq!(cloud.image().seq(), seq, "what is so already is not written");

    let row = cloud.image().service_of("h1").unwrap().clone();
    assert_eq!((row.disabled, row.disabled_reason.as_deref()), (true, Some("memory")));
    cloud.operate(ServiceKey::Uuid(row.uuid), enable()).await.unwrap();
    assert!(!cloud.is_marked("h1"));
    assert_eq!(cloud.image().service_of("h1").unwrap().disabled_reason, None);
    cloud.select(small()).await;
}

#[tokio::test]
async fn the_trait_follows_on_every_node_even_if_somebody_took_it_away() {
    let cloud = Cloud::new().await;
    for node in ["n1", "n2"] {
        cloud.report_with("h1", Some(node), host(4), false).await.unwrap();
    }
    cloud.operate(ServiceKey::Id(1), disable(None)).await.unwrap();
    assert!(cloud.is_marked("n1") && cloud.is_marked("n2"));
    let at = cloud.image().providers.find_name("n1").unwrap();
    let provider = cloud.image().providers.uuid(at);
    let clear = move |image: &stowplan_ledger::Image| {
        let generation = image.providers.generation(image.providers.find(provider).unwrap());
        stowplan_placement::membership::set_traits(image, provider, generation, &[])
    };
    cloud.scheduler.ledger().write("req-clear", clear).await.unwrap();
    assert!(!cloud.is_marked("n1"));
    cloud.operate(ServiceKey::Id(1), disable(None)).await.unwrap();
    assert!(cloud.is_marked("n1"));
}

#[tokio::test]
async fn services_that_cannot_be_changed() {
    let cloud = Cloud::new().await;
    cloud.report("c1", json!({"service": {"binary": "nova-conductor"}})).await;
    let refusal = cloud.operate(on("c1", "nova-conductor"), enable()).await.unwrap_err();
    assert_eq!(refusal.status(), 400);
    for (key, named) in [
        (on("c1", "nova-compute"), "nova-compute on host c1"),
        (ServiceKey::Id(9), "9"),
        (ServiceKey::Uuid(Uuid::nil()), "00000000-0000-0000-0000-000000000000"),
    ] {
        let refusal = cloud.operate(key.clone(), enable()).await.unwrap_err();
        assert_eq!(refusal, SchedulerError::ServiceNotFound(named.to_owned()));
        assert_eq!(cloud.retire(key).await.unwrap_err(), refusal);
    }
}

#[tokio::test]
async fn a_host_declared_down_gets_no_servers() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let down = |is| ServiceUpdate { status: None, forced_down: Some(is) };
    cloud.operate(ServiceKey::Id(1), down(true)).await.unwrap();
    let refusal = cloud.no_host(small()).await;
    assert!(refusal.reasons[0].contains("ComputeFilter"), "{refusal}");
    assert!(!cloud.is_marked("h1"));
    cloud.operate(ServiceKey::Id(1), down(false)).await.unwrap();
    cloud.select(small()).await;
}

#[tokio::test]
async fn a_service_goes_with_its_nodes_unless_somebody_is_there() {
    let cloud = Cloud::new().await;
    for node in ["n1", "n2"] {
        cloud.report_with("h1", Some(node), host(4), false).await.unwrap();
    }
    let fast = cloud.aggregate("fast", None, &["h1"]).await;
    let placed = cloud.select(small()).await;
    let refusal = cloud.retire(ServiceKey::Id(1)).await.unwrap_err();
    let server = placed.selections[0].instance_uuid;
    assert_eq!(refusal.to_string(), format!("host h1 has 1 servers or other consumers: {server}"));
    let free = move |image: &stowplan_ledger::Image| {
        stowplan_placement::claims::delete_allocations(image, server)
    };
    cloud.scheduler.ledger().write("req-free", free).await.unwrap();
    cloud.retire(ServiceKey::Id(1)).await.unwrap();
    let image = cloud.image();
    assert!(image.hosts.is_empty() && image.services.is_empty());
    assert!(image.providers.find_name("n1").is_none() && image.providers.find_name("n2").is_none());
    assert!(image.host_aggregates.get(fast).unwrap().hosts.is_empty());
}

#[tokio::test]
async fn a_server_that_only_the_host_knows_of_keeps_its_service() {
    let cloud = Cloud::new().await;
    let mut report = host(4);
    report["instances"] = json!({uuid(1).to_string(): {"name": "one"}});
    cloud.report("h1", report).await;
    assert_eq!(cloud.retire(ServiceKey::Id(1)).await.unwrap_err().status(), 409);
}

#[tokio::test]
async fn a_service_without_servers_goes_alone() {
    let cloud = Cloud::new().await;
    cloud.report("c1", json!({"service": {"binary": "nova-conductor"}})).await;
    cloud.retire(ServiceKey::Id(1)).await.unwrap();
    assert!(cloud.image().services.is_empty());
    assert_eq!(cloud.image().hosts.len(), 1);
}

#[tokio::test]
async fn zones_have_their_services() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 3, 4).await;
    cloud.report("c1", json!({"service": {"binary": "nova-conductor"}})).await;
    cloud.aggregate("a", Some("east"), &["h0"]).await;
    cloud.aggregate("b", Some("empty"), &[]).await;
    cloud.operate(on("h0", "nova-compute"), disable(None)).await.unwrap();
    let names = ZoneNames { default: "nova", internal: "internal" };
    let found = zones(&cloud.image(), names);
    let shown: Vec<(&str, bool, usize)> = found
        .iter()
        .map(|(name, zone)| (name.as_str(), zone.is_available(), zone.enabled.len()))
        .collect();
    assert_eq!(shown, [("east", false, 0), ("internal", true, 1), ("nova", true, 2)]);
}

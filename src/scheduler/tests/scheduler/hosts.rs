//! Reports of hosts, and who writes their inventory.

use serde_json::json;
use stowplan_engine::{Figure, HostView};
use stowplan_ledger::{Change, Image};
use stowplan_model::Uuid;
use stowplan_placement::PlacementError;
use stowplan_placement::inventories::{Reserving, set_inventories};
use stowplan_placement::providers::{NewProvider, create_provider};
use stowplan_scheduler::SchedulerError;
use stowplan_scheduler::hosts::{HostFilter, HostState, zone_of};

use crate::cloud::{CALL, Cloud, NOW, host, refused, small, small_with, uuid};

/// A change as a Placement client makes it.
async fn placement<F>(cloud: &Cloud, mut propose: F)
where
    F: FnMut(&Image) -> Result<Change, PlacementError> + Send + 'static,
{
    let propose = move |image: &Image| propose(image).map(|change| (change, ()));
    cloud.scheduler.ledger().write("req-placement", propose).await.unwrap();
}

async fn compute_service_makes(cloud: &Cloud, node: &str, provider: Uuid, vcpus: i64) {
    let new = NewProvider { uuid: provider, name: node.to_owned(), parent: None };
    placement(cloud, move |image| Ok(create_provider(image, &new, NOW)?.0)).await;
    client_sets(cloud, provider, vcpus).await;
}

async fn client_sets(cloud: &Cloud, provider: Uuid, vcpus: i64) {
    placement(cloud, move |image| {
        let generation = image.providers.generation(image.providers.find(provider).unwrap());
        let inventory = serde_json::from_value(json!({"total": vcpus})).unwrap();
        let all = [("VCPU".to_owned(), inventory)];
        Ok(set_inventories(image, provider, generation, &all, Reserving::UpToTotal)?.0)
    })
    .await;
}

#[tokio::test]
async fn a_report_makes_the_tree_of_the_host() {
    let cloud = Cloud::new().await;
    let reported = cloud
        .report(
            "h1",
            json!({
                "vcpus": 8, "memory_mb": 16384, "local_gb": 100, "cpu_allocation_ratio": 4.0,
                "traits": ["COMPUTE_NODE", "CUSTOM_FAST"], "max_tasks": 12,
                "devices": [
                    {"name": "gpu0", "resource_class": "CUSTOM_GPU_MILLI", "total": 1000,
                     "traits": ["CUSTOM_GPU_V100"]},
                    {"name": "gpu1", "resource_class": "PGPU"},
                ],
            }),
        )
        .await;
    assert!(reported.created && reported.changed);
    assert_eq!(cloud.total("h1", "VCPU"), Some(8));
    assert_eq!(cloud.total("h1", "MEMORY_MB"), Some(16384));
    assert_eq!(cloud.total("h1", "DISK_GB"), Some(100));
    assert_eq!(cloud.total("h1_batch", "CUSTOM_BATCH_TASK"), Some(12));
    assert_eq!(cloud.total("h1_gpu0", "CUSTOM_GPU_MILLI"), Some(1000));
    assert_eq!(cloud.total("h1_gpu1", "PGPU"), Some(1));
    assert_eq!(cloud.traits("h1"), ["COMPUTE_NODE", "CUSTOM_FAST", "OWNER_NOVA"]);
    assert_eq!(cloud.traits("h1_gpu0"), ["CUSTOM_GPU_V100"]);
    let image = cloud.image();
    let root = image.providers.find(reported.uuid).unwrap();
    assert_eq!(image.providers.tree_of(root).len(), 4);
    let table = image.hosts.table();
    let ix = table.host_of_node(reported.uuid).unwrap();
    assert_eq!(table.figure(Figure::VcpusTotal, ix), 8);
    assert_eq!(table.figure(Figure::FreeRamMb, ix), 16384);
}

#[tokio::test]
async fn an_unchanged_report_writes_nothing() {
    let cloud = Cloud::new().await;
    let report = json!({"vcpus": 8, "memory_mb": 1024, "service": {"last_seen_up": 1}});
    let first = cloud.report("h1", report.clone()).await;
    let (seq, generation) = (cloud.image().seq(), cloud.generation("h1"));
    let again = cloud.report("h1", report).await;
    assert_eq!((again.created, again.changed, again.uuid), (false, false, first.uuid));
    let later = cloud.report("h1", json!({"vcpus": 8, "memory_mb": 1024})).await;
    assert!(!later.changed, "when it was seen is no news");
    assert_eq!((cloud.image().seq(), cloud.generation("h1")), (seq, generation));
    cloud.report("h1", json!({"vcpus": 9, "memory_mb": 1024})).await;
    assert_eq!(cloud.generation("h1"), generation + 1);
    assert_eq!(cloud.total("h1", "VCPU"), Some(9));
}

#[tokio::test]
async fn a_host_that_comes_back_is_the_same_one() {
    let cloud = Cloud::new().await;
    let first = cloud.report("h1", host(4)).await;
    refused(cloud.scheduler.delete_host(CALL, "h1", None).await).unwrap();
    let image = cloud.image();
    assert!(image.providers.is_empty() && image.hosts.is_empty() && image.services.is_empty());
    assert_eq!(cloud.report("h1", host(4)).await.uuid, first.uuid);
}

#[tokio::test]
async fn an_inventory_of_placement_clients_is_theirs() {
    let cloud = Cloud::new().await;
    compute_service_makes(&cloud, "h1", uuid(1), 16).await;
    let reported = cloud.report("h1", host(4)).await;
    assert_eq!(reported.uuid, uuid(1), "the provider of that name is the host's");
    assert_eq!(cloud.total("h1", "VCPU"), Some(16));
    assert_eq!(cloud.total("h1", "MEMORY_MB"), None);

    let explicit = json!({"vcpus": 4, "inventory": {"VCPU": {"total": 4}}});
    let refusal = cloud.try_report("h1", explicit.clone()).await.unwrap_err();
    assert_eq!(refusal, SchedulerError::InventoryOwned { host: "h1".to_owned() });
    assert_eq!(refusal.status(), 409);
    cloud.report_with("h1", None, explicit, true).await.unwrap();
    assert_eq!(cloud.total("h1", "VCPU"), Some(4));
    let again = json!({"vcpus": 4, "inventory": {"VCPU": {"total": 5, "allocation_ratio": 2.0}}});
    cloud.report("h1", again).await;
    assert_eq!(cloud.total("h1", "VCPU"), Some(5), "it is the report's from now on");
}

#[tokio::test]
async fn a_derived_inventory_gives_way_to_a_client() {
    let cloud = Cloud::new().await;
    let reported = cloud.report("h1", host(4)).await;
    client_sets(&cloud, reported.uuid, 32).await;
    cloud.report("h1", host(5)).await;
    assert_eq!(cloud.total("h1", "VCPU"), Some(32));
    assert_eq!(cloud.total("h1", "MEMORY_MB"), None);
}

#[tokio::test]
async fn names_and_uuids_of_others_are_refused() {
    let cloud = Cloud::new().await;
    compute_service_makes(&cloud, "h1", uuid(1), 16).await;
    let refusal = cloud.try_report("h1", json!({"uuid": uuid(2)})).await.unwrap_err();
    assert_eq!(refusal, SchedulerError::ProviderName { name: "h1".to_owned(), holder: uuid(1) });
    cloud.report("h2", json!({"uuid": uuid(3)})).await;
    let refusal = cloud.try_report("h2", json!({"uuid": uuid(4)})).await.unwrap_err();
    assert!(matches!(refusal, SchedulerError::HostUuid { known, .. } if known == uuid(3)));
    let refusal = cloud.try_report("h3", json!({"uuid": uuid(3)})).await.unwrap_err();
    assert!(matches!(refusal, SchedulerError::UuidTaken { .. }), "{refusal}");
    let child = NewProvider { uuid: uuid(5), name: "c".to_owned(), parent: Some(uuid(1)) };
    placement(&cloud, move |image| Ok(create_provider(image, &child, NOW)?.0)).await;
    let refusal = cloud.try_report("c", json!({})).await.unwrap_err();
    assert!(matches!(refusal, SchedulerError::NotARoot { .. }), "{refusal}");
}

#[tokio::test]
async fn all_bad_fields_are_named_at_once() {
    let cloud = Cloud::new().await;
    let refusal = cloud
        .try_report("h1", json!({"vcpus": "four", "memory_md": 1, "service": {"version": []}}))
        .await
        .unwrap_err();
    let SchedulerError::Fields(errors) = refusal else { panic!("{refusal}") };
    let texts: Vec<String> = errors.all().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "vcpus is \"four\": expected a whole number",
            "memory_md is 1: expected no field of this name (is memory_mb meant?)",
            "service.version is []: expected a whole number",
        ]
    );
    let refusal = cloud
        .try_report(
            "h1",
            json!({
                "vcpus": -1, "traits": ["NO_SUCH"], "ram_allocation_ratio": -0.5,
                "devices": [{"name": "a", "resource_class": "GPU"}, {"name": "a", "resource_class": "PGPU"}],
                "inventory": {"VCPU": {"total": 0, "reserved": 1}},
            }),
        )
        .await
        .unwrap_err();
    let SchedulerError::Fields(errors) = refusal else { panic!("{refusal}") };
    let fields: Vec<&str> = errors.all().iter().map(|error| error.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "vcpus",
            "ram_allocation_ratio",
            "traits[0]",
            "devices[0].resource_class",
            "devices[1].name",
            "inventory.VCPU.total",
            "inventory.VCPU.reserved",
        ]
    );
    assert!(cloud.image().hosts.is_empty());
}

#[tokio::test]
async fn what_an_operator_disables_stays_disabled() {
    let cloud = Cloud::new().await;
    let off = json!({"vcpus": 1, "service": {"disabled": true, "disabled_reason": "fan"}});
    cloud.report("h1", off.clone()).await;
    assert_eq!(cloud.traits("h1"), ["COMPUTE_STATUS_DISABLED", "OWNER_NOVA"]);
    cloud.report("h1", json!({"vcpus": 1})).await;
    assert_eq!(cloud.traits("h1"), ["OWNER_NOVA"]);
    cloud.report("h1", off).await;
    let image = cloud.image();
    let service = image.service_of("h1").unwrap();
    assert_eq!((service.disabled, service.disabled_reason.as_deref()), (true, Some("fan")));
    assert_eq!(cloud.traits("h1"), ["COMPUTE_STATUS_DISABLED", "OWNER_NOVA"]);
}

#[tokio::test]
async fn several_nodes_share_a_service() {
    let cloud = Cloud::new().await;
    for node in ["n1", "n2"] {
        cloud.report_with("h", Some(node), host(2), false).await.unwrap();
    }
    let refusal = refused(cloud.scheduler.delete_host(CALL, "h", None).await).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "host h has several nodes, name one of them with ?node=: n1, n2"
    );
    let disabled = json!({"vcpus": 2, "service": {"disabled": true}});
    cloud.report_with("h", Some("n1"), disabled, false).await.unwrap();
    assert!(cloud.traits("n2").contains(&"COMPUTE_STATUS_DISABLED".to_owned()));
    refused(cloud.scheduler.delete_host(CALL, "h", Some("n1")).await).unwrap();
    assert_eq!(cloud.image().services.len(), 1);
    refused(cloud.scheduler.delete_host(CALL, "h", None).await).unwrap();
    assert!(cloud.image().services.is_empty());
}

#[tokio::test]
async fn a_host_in_use_stays() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(40)).await;
    let asked = small_with(json!({"count": 25}));
    let mut servers: Vec<String> = cloud
        .select(asked)
        .await
        .selections
        .iter()
        .map(|selection| selection.instance_uuid.to_string())
        .collect();
    servers.sort();
    let refusal = refused(cloud.scheduler.delete_host(CALL, "h1", None).await).unwrap_err();
    let SchedulerError::HostInUse { count, first, .. } = refusal else { panic!("{refusal}") };
    assert_eq!(count, 25);
    assert_eq!(first, servers[..20]);
}

#[tokio::test]
async fn devices_come_and_go() {
    let cloud = Cloud::new().await;
    let gpus = |count: usize| {
        let devices: Vec<_> = (0..count)
            .map(|n| json!({"name": format!("gpu{n}"), "resource_class": "PGPU"}))
            .collect();
        json!({"vcpus": 8, "memory_mb": 8192, "local_gb": 10, "devices": devices})
    };
    cloud.report("h1", gpus(2)).await;
    let asked = json!({"flavor": {"vcpus": 1, "extra_specs": {"resources:PGPU": "1"}}});
    let selection = cloud.select(asked).await.selections.remove(0);
    let held = &selection.destination.allocation_request.allocations;
    assert_eq!(held.len(), 2, "the CPU from the host, the GPU from its device: {held:?}");
    assert_eq!(cloud.used("h1", "PGPU"), 1);

    cloud.report("h1", gpus(0)).await;
    assert_eq!(cloud.image().providers.len(), 3, "the device in use stays, the other goes");
    cloud.no_host(json!({"flavor": {"vcpus": 1, "extra_specs": {"resources:PGPU": "1"}}})).await;

    let server = selection.instance_uuid;
    placement(&cloud, move |image| {
        Ok(stowplan_placement::claims::delete_allocations(image, server)?.0)
    })
    .await;
    cloud.report("h1", gpus(0)).await;
    assert_eq!(cloud.image().providers.len(), 2);
}

#[tokio::test]
async fn live_figures_are_the_report_and_what_came_after_it() {
    let cloud = Cloud::new().await;
    let figures = |report: serde_json::Value| {
        let mut report = report;
        report["vcpus"] = json!(16);
        report["memory_mb"] = json!(16384);
        report["local_gb"] = json!(100);
        report
    };
    let said =
        json!({"vcpus_used": 2, "memory_mb_used": 2048, "free_disk_gb": 90, "num_instances": 1});
    cloud.report("h1", figures(said)).await;
    let server = cloud.select(small()).await.selections[0].instance_uuid;
    let live = || {
        let image = cloud.image();
        let table = image.hosts.table();
        let ix = table.hosts_named("h1")[0];
        [Figure::VcpusUsed, Figure::FreeRamMb, Figure::FreeDiskMb, Figure::NumInstances]
            .map(|figure| table.figure(figure, ix))
    };
    assert_eq!(live(), [3, 13312, 89 * 1024, 2]);
    let said = json!({
        "vcpus_used": 3, "memory_mb_used": 3072, "free_disk_gb": 89, "num_instances": 2,
        "instances": {server.to_string(): {}},
    });
    cloud.report("h1", figures(said)).await;
    assert_eq!(live(), [3, 13312, 89 * 1024, 2], "the report knows of it now");
}

#[tokio::test]
async fn heartbeats_keep_hosts_alive() {
    let cloud = Cloud::new().await;
    let old = NOW.0 - 90_000_000;
    for name in ["h1", "h2"] {
        cloud.report(name, json!({"vcpus": 1, "service": {"last_seen_up": old}})).await;
    }
    let down = HostFilter { state: Some(HostState::Down), ..HostFilter::default() };
    let names = |filter: &HostFilter| -> Vec<String> {
        let page = cloud.scheduler.list_hosts(&cloud.image(), filter, None, 10, NOW).unwrap();
        page.hosts.iter().map(|host| host.row.host.clone()).collect()
    };
    assert_eq!(names(&down), ["h1", "h2"]);
    let heard = vec!["h2".to_owned(), "h9".to_owned()];
    assert_eq!(cloud.scheduler.heartbeat(heard, NOW).unwrap(), ["h9"]);
    // A write comes after the heartbeat in the writer's order.
    cloud.report("h3", json!({"vcpus": 1})).await;
    assert_eq!(names(&down), ["h1"]);
}

#[tokio::test]
async fn lists_have_pages_and_filters() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 5, 1).await;
    let scheduler = &cloud.scheduler;
    let image = cloud.image();
    let all = HostFilter::default();
    let first = scheduler.list_hosts(&image, &all, None, 2, NOW).unwrap();
    let second = scheduler.list_hosts(&image, &all, first.next, 2, NOW).unwrap();
    let third = scheduler.list_hosts(&image, &all, second.next, 2, NOW).unwrap();
    let names: Vec<&str> = [&first, &second, &third]
        .into_iter()
        .flat_map(|page| page.hosts.iter().map(|host| host.row.host.as_str()))
        .collect();
    assert_eq!(names, ["h0", "h1", "h2", "h3", "h4"]);
    assert_eq!(third.next, None);
    let error = scheduler.list_hosts(&image, &all, Some(uuid(99)), 2, NOW).unwrap_err();
    assert!(error.to_string().starts_with("marker is "), "{error}");
    assert_eq!(zone_of(&image, "h0"), None);
}

#[tokio::test]
async fn a_provider_that_was_deleted_comes_back_with_the_next_report() {
    let cloud = Cloud::new().await;
    let report = json!({"vcpus": 4, "max_tasks": 0});
    let uuid = cloud.report("h1", report.clone()).await.uuid;
    let aggregate = cloud.aggregate("a", None, &["h1"]).await;
    placement(&cloud, move |image| {
        Ok(stowplan_placement::providers::delete_provider(image, uuid)?.0)
    })
    .await;
    assert!(cloud.image().providers.is_empty());
    assert!(cloud.report("h1", report).await.changed);
    assert_eq!(cloud.total("h1", "VCPU"), Some(4));
    assert_eq!(cloud.mirror("h1"), [aggregate]);
}

#[tokio::test]
async fn the_service_of_another_host_is_not_taken() {
    let cloud = Cloud::new().await;
    let with = |service: Uuid| json!({"vcpus": 1, "service": {"uuid": service}});
    cloud.report("h1", with(uuid(70))).await;
    cloud.report("h2", json!({"vcpus": 1})).await;
    let derived = cloud.image().service_of("h2").unwrap().uuid;
    // By one that is new, and by one that has a service.
    for (host, taken, owner) in
        [("h3", uuid(70), "h1"), ("h2", uuid(70), "h1"), ("h3", derived, "h2")]
    {
        let refusal = cloud.try_report(host, with(taken)).await.unwrap_err();
        assert_eq!(refusal.status(), 409);
        assert_eq!(
            refusal.to_string(),
            format!("service.uuid {taken} belongs to the service nova-compute of host {owner}")
        );
    }
    let image = cloud.image();
    assert_eq!(image.service_of("h1").unwrap().uuid, uuid(70));
    assert_eq!((image.hosts.len(), image.services.len()), (2, 2));
    assert!(!cloud.report("h1", with(uuid(70))).await.changed, "its own it may say");
}

#[tokio::test]
async fn a_device_below_which_clients_put_providers_stays_until_they_go() {
    let cloud = Cloud::new().await;
    let with = |devices: serde_json::Value| json!({"vcpus": 1, "max_tasks": 0, "devices": devices});
    let gpu = json!([{"name": "gpu0", "resource_class": "PGPU"}]);
    cloud.report("h1", with(gpu)).await;
    let device = cloud.image().providers.find_name("h1_gpu0").unwrap();
    let device = cloud.image().providers.uuid(device);
    let part = NewProvider { uuid: uuid(5), name: "part".to_owned(), parent: Some(device) };
    placement(&cloud, move |image| Ok(create_provider(image, &part, NOW)?.0)).await;
    cloud.report("h1", with(json!([]))).await;
    let image = cloud.image();
    let part = image.providers.get(image.providers.find(uuid(5)).unwrap()).unwrap().clone();
    assert_eq!(part.parent, image.providers.find(device));
    let class = image.classes.ix("PGPU").unwrap();
    assert_eq!(image.providers.capacity(part.parent.unwrap(), class), Some(0));
    placement(&cloud, move |image| {
        Ok(stowplan_placement::providers::delete_provider(image, uuid(5))?.0)
    })
    .await;
    cloud.report("h1", with(json!([]))).await;
    assert_eq!(cloud.image().providers.len(), 1);
}

#[tokio::test]
async fn a_host_that_reports_servers_stays() {
    let cloud = Cloud::new().await;
    cloud.report("h1", json!({"vcpus": 4, "instances": {uuid(9).to_string(): {}}})).await;
    let refusal = refused(cloud.scheduler.delete_host(CALL, "h1", None).await).unwrap_err();
    let first = vec![uuid(9).to_string()];
    assert_eq!(refusal, SchedulerError::HostInUse { host: "h1".to_owned(), count: 1, first });
    cloud.report("h1", json!({"vcpus": 4})).await;
    refused(cloud.scheduler.delete_host(CALL, "h1", None).await).unwrap();
}

#[tokio::test]
async fn texts_of_a_service_are_as_long_as_the_database_keeps() {
    let cloud = Cloud::new().await;
    for field in ["binary", "zone", "disabled_reason"] {
        let with = |length: usize| json!({"service": {field: "x".repeat(length)}});
        let refusal = cloud.try_report("h1", with(256)).await.unwrap_err();
        let text = refusal.to_string();
        assert!(text.starts_with(&format!("service.{field} is ")), "{text}");
        assert!(text.contains("255 characters"), "{text}");
        cloud.report(&format!("of-{field}"), with(255)).await;
    }
}

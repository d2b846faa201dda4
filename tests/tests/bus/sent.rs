//! What the service tells on the bus.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

use crate::Stage;
use crate::proxy::Proxy;
use crate::wire::{PATIENCE, Wire, servers, spec};
use crate::{Vhost, report, start};

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_told_of_as_nova_does() {
    let options = [
        "oslo_messaging_notifications.driver=messagingv2",
        "notifications.notification_format=both",
        "stowplan_notifications.enabled=false",
    ];
    let Some(stage) = Stage::set(&options).await else { return };
    let (wire, server) = (&stage.wire, servers(1));
    for queue in ["versioned_notifications.info", "notifications.info"] {
        wire.declare(queue).await;
    }
    wire.call(&wire.select(spec(1), &server)).await;
    for phase in ["start", "end"] {
        let event = format!("scheduler.select_destinations.{phase}");
        let told = wire.next("versioned_notifications.info", PATIENCE).await.unwrap();
        assert_eq!((&told["event_type"], &told["priority"]), (&json!(event), &json!("INFO")));
        assert_eq!(told["publisher_id"], "nova-scheduler:sched-1");
        let payload = &told["payload"];
        assert_eq!(payload["nova_object.name"], "RequestSpecPayload");
        assert_eq!(payload["nova_object.data"]["flavor"]["nova_object.data"]["memory_mb"], 64);
        let older = wire.next("notifications.info", PATIENCE).await.unwrap();
        assert_eq!(
            (&older["event_type"], &older["publisher_id"]),
            (&json!(event), &json!("scheduler.sched-1"))
        );
        assert_eq!(older["payload"]["request_spec"]["num_instances"], 1);
    }
}

/// The ledger's events arrive while the line comes and goes: all of them, and
/// what comes twice bears one id.
#[tokio::test(flavor = "multi_thread")]
async fn no_event_is_lost() {
    let Some(vhost) = Vhost::create() else { return };
    let proxy = Proxy::start(&vhost.broker.address).await;
    let server = start(
        &vhost.url(&proxy.address),
        &["stowplan_events.enabled=true", "stowplan_events.poll_interval=0.2"],
    );
    let wire = Wire::connect(&vhost).await;
    let mut stage = Stage { vhost, server, wire };
    report(&stage.client(), "cmp-1");
    stage.wait_until("something is sent", || stage.bus()["counts"]["sent"] != 0).await;
    let queue = stage.wire.listen("stowplan", "allocations.#").await;
    let all: Vec<Uuid> = servers(40);
    for (number, server) in all.iter().enumerate() {
        let body = json!({"flavor": {"name": "m1", "vcpus": 1, "memory_mb": 64, "root_gb": 1},
            "instance_uuids": [server]});
        assert_eq!(stage.client().post("/v1/select_destinations", &body).status, 200);
        match number {
            10 => proxy.cut(),
            20 => {
                stage.server.kill();
                stage.server.start_again();
            }
            30 => proxy.open(),
            _ => {}
        }
    }
    let mut ids: BTreeMap<String, Value> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < all.len() {
        let event = stage.wire.next(&queue, Duration::from_secs(40)).await;
        let event = event.unwrap_or_else(|| panic!("{} seen: {}", seen.len(), stage.bus()));
        let id = event["message_id"].as_str().unwrap().to_owned();
        let payload = event["payload"].clone();
        let before = ids.insert(id, payload.clone());
        assert!(before.is_none_or(|before| before == payload));
        for record in payload["records"].as_array().unwrap() {
            seen.insert(record["consumer"]["uuid"].as_str().unwrap().to_owned());
        }
    }
    assert!(all.iter().all(|server| seen.contains(&server.to_string())));
}

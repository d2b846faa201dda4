//! The message bus, on a real broker: STOWPLAN_TEST_RABBIT_URL and
//! STOWPLAN_TEST_RABBIT_MANAGEMENT name it. Without them nothing is tried.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod broker;
mod calls;
mod facts;
mod faults;
mod proxy;
mod sent;
mod shadow;
mod wire;

use broker::Vhost;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use stowplan_tests::{Builder, Client, Server};
use uuid::Uuid;
use wire::Wire;

/// A server on the bus, and a caller.
struct Stage {
    vhost: Vhost,
    server: Server,
    wire: Wire,
}

impl Stage {
    /// With hosts cmp-1 and cmp-2; none where there is no broker.
    async fn set(options: &[&str]) -> Option<Self> {
        let vhost = Vhost::create()?;
        let url = vhost.url(&vhost.broker.address);
        let server = start(&url, options);
        let wire = Wire::connect(&vhost).await;
        let stage = Self { vhost, server, wire };
        for host in ["cmp-1", "cmp-2"] {
            report(&stage.client(), host);
        }
        stage.wait_until("calls are consumed", || stage.bus()["state"] == "consuming").await;
        Some(stage)
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    /// What /readyz says of the bus.
    fn bus(&self) -> Value {
        self.client().get("/readyz").json()["bus"].clone()
    }

    fn host(&self, host: &str) -> Value {
        self.client().get(&format!("/v1/hosts/{host}")).expect(200).json()
    }

    /// What a consumer holds, by provider.
    fn held(&self, consumer: Uuid) -> usize {
        let path = format!("/allocations/{consumer}");
        let held = self.client().at("1.28").get(&path).expect(200).json();
        held["allocations"].as_object().unwrap().len()
    }

    /// Waits until something is so.
    async fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let until = Instant::now() + Duration::from_secs(30);
        while !is_so() {
            assert!(Instant::now() < until, "{what}: not within 30 s; the bus: {}", self.bus());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A server on the bus at this address.
fn start(url: &str, options: &[&str]) -> Server {
    let builder = Builder::new()
        .set(&format!("DEFAULT.transport_url={url}"))
        .set("DEFAULT.host=sched-1")
        .set("DEFAULT.service_down_time=86400");
    options.iter().fold(builder, |builder, option| builder.set(option)).start()
}

/// Reports a host with room for many small servers.
fn report(client: &Client, host: &str) {
    let inventory = json!({"VCPU": {"total": 1000}, "MEMORY_MB": {"total": 1_000_000},
        "DISK_GB": {"total": 100_000}});
    let report = json!({"cell_uuid": "4f5bd2a1-8a7c-4e0c-9f63-6f1d0c8a9b10",
        "inventory": inventory, "failed_builds": 0, "io_workload": 0});
    assert_eq!(client.put(&format!("/v1/hosts/{host}"), &report).status, 201);
}

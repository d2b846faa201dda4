//! What is placed on the cloud: virtual machines and gangs.

use super::cloud::ZONES;
use crate::{
    bar::progress,
    http::{Answer, Client},
    latency::{Distribution, Latencies},
};
use anyhow::anyhow;
use serde_json::{Value, json};
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};
use uuid::Uuid;

/// Virtual machines in all.
pub const SERVERS: usize = 500;
/// Requests under way at once.
const ASKERS: usize = 4;

/// Name, CPUs, memory in MiB and disk in GiB of a flavor.
type Flavor = (&'static str, i64, i64, i64);

/// The flavors, the common ones more than once.
const FLAVORS: [Flavor; 8] = [
    ("m1.small", 2, 4096, 20),
    ("m1.small", 2, 4096, 20),
    ("m1.medium", 4, 8192, 40),
    ("m1.small", 2, 4096, 20),
    ("m1.medium", 4, 8192, 40),
    ("m1.large", 8, 16_384, 80),
    ("m1.medium", 4, 8192, 40),
    ("m1.huge", 16, 65_536, 160),
];

fn server(number: usize) -> Value {
    let (name, vcpus, memory_mb, root_gb) = FLAVORS[number % FLAVORS.len()];
    json!({
        "instance_uuids": [Uuid::new_v4()],
        "project_id": super::PROJECT,
        "availability_zone": ZONES[number % ZONES.len()],
        "flavor": {
            "name": name, "vcpus": vcpus, "memory_mb": memory_mb, "root_gb": root_gb,
        },
    })
}

/// What came of placing virtual machines.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Times of the requests.
    pub latency: Distribution,
    /// Seconds in all.
    pub seconds: f64,
}

/// Places the virtual machines from the one of this number on.
///
/// # Errors
/// When one cannot be placed.
pub fn place_servers(client: &Client, from: usize) -> anyhow::Result<Placed> {
    let bar = progress("virtual machines", SERVERS - from);
    let (next, latencies) = (AtomicUsize::new(from), Mutex::new(Latencies::default()));
    let began = Instant::now();
    let ask = || -> anyhow::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= SERVERS {
                return Ok(());
            }
            let asked = Instant::now();
            client.post("/v1/select_destinations", &server(number))?.demand()?;
            latencies.lock().unwrap_or_else(PoisonError::into_inner).note(asked.elapsed());
            bar.inc(1);
        }
    };
    thread::scope(|scope| {
        let askers: Vec<_> = (0..ASKERS).map(|_| scope.spawn(ask)).collect();
        let broke = |_| Err(anyhow!("a thread broke off"));
        askers.into_iter().try_for_each(|asker| asker.join().unwrap_or_else(broke))
    })?;
    bar.finish_and_clear();
    let latencies = latencies.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Placed { latency: latencies.distribution(), seconds: began.elapsed().as_secs_f64() })
}

/// The gangs: two that fit, and one that asks for more GPUs than there are.
fn gangs() -> Vec<Value> {
    let gpu_worker = |count: i64| {
        json!({
            "role": "worker", "count": count, "node_selector": {"accelerator": "gpu"},
            "requests": {"cpu": 6, "memory": "24Gi", "nvidia.com/gpu": 1},
        })
    };
    vec![
        json!({
            "name": "train", "namespace": super::PROJECT, "min_available": 33,
            "tasks": [
                {"role": "master", "requests": {"cpu": "500m", "memory": "1Gi"}},
                gpu_worker(32),
            ],
        }),
        json!({
            "name": "render", "namespace": super::PROJECT, "min_available": 24,
            "tasks": [{"role": "frame", "count": 24,
                "requests": {"cpu": 4, "memory": "8Gi"}}],
        }),
        json!({
            "name": "too-large", "namespace": super::PROJECT, "min_available": 100,
            "tasks": [gpu_worker(100)],
        }),
    ]
}

/// Submits the gangs that are not there yet.
///
/// # Errors
/// When the server does not take one.
pub fn submit_gangs(client: &Client, known: &[String]) -> anyhow::Result<()> {
    gangs()
        .iter()
        .filter(|gang| !known.iter().any(|name| gang["name"] == *name))
        .try_for_each(|gang| client.post("/v1/jobs", gang)?.demand().map(drop))
}

/// A request that no host of the cloud can meet: an image for another kind of
/// processor.
///
/// # Errors
/// When the server does not answer.
pub fn ask_the_impossible(client: &Client) -> anyhow::Result<Answer> {
    let mut server = server(2);
    server["availability_zone"] = Value::Null;
    server["image"] = json!({"properties": {"hw_architecture": "aarch64"}});
    client.post("/v1/select_destinations", &server)
}

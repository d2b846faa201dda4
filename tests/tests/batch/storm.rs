//! Virtual machines and batch jobs on the same hosts from many clients at once,
//! with evictions, while the service is killed: the books are exact after it,
//! and what is held for a task nobody else gets.

use crate::cloud::{books, hosts};
use crate::executor::{Executor, Served, client};
use crate::holds::Watch;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    env,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, sleep},
    time::{Duration, Instant},
};
use stowplan_tests::{Builder, Client, Server};
use uuid::Uuid;

const HOSTS: usize = 4;
const KILLS: u32 = 3;

/// How long it lasts: `STOWPLAN_STORM_SECONDS`, or 9 seconds.
fn length() -> Duration {
    let seconds = env::var("STOWPLAN_STORM_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(9))
}

/// Runs until told to stop; whatever fails while nobody serves is let pass.
fn repeat(
    served: &Served,
    stop: &Arc<AtomicBool>,
    mut turn: impl FnMut(&Client, usize) + Send + 'static,
) -> thread::JoinHandle<()> {
    let (served, stop) = (served.clone(), stop.clone());
    thread::spawn(move || {
        for n in 0.. {
            if stop.load(Relaxed) {
                return;
            }
            turn(&client(&served), n);
        }
    })
}

/// Claims processors of a host as a client of Placement does, and gives them
/// back when there are no more.
fn raw_claims(host: String) -> impl FnMut(&Client, usize) + Send {
    let mut held: Vec<Uuid> = Vec::new();
    move |client, _| {
        let server = Uuid::new_v4();
        let claim = json!({
            "allocations": {&host: {"resources": {"VCPU": 1}}},
            "project_id": "p", "user_id": "u", "consumer_generation": null,
            "consumer_type": "INSTANCE",
        });
        match client.try_send("PUT", &format!("/allocations/{server}"), Some(&claim)) {
            Ok(reply) if reply.status == 204 => held.push(server),
            _ => {
                for server in held.drain(..) {
                    let _ = client.try_send("DELETE", &format!("/allocations/{server}"), None);
                }
            }
        }
        sleep(Duration::from_millis(15));
    }
}

/// Places servers by select_destinations, and deletes them soon after.
fn servers() -> impl FnMut(&Client, usize) + Send {
    move |client, _| {
        let flavor = json!({"vcpus": 2, "memory_mb": 64, "root_gb": 1});
        let server = Uuid::new_v4();
        let request = json!({"flavor": flavor, "instance_uuids": [server], "project_id": "p",
            "user_id": "u"});
        let _ = client.try_send("POST", "/v1/select_destinations", Some(&request));
        sleep(Duration::from_millis(20));
        let _ = client.try_send("DELETE", &format!("/allocations/{server}"), None);
    }
}

/// Submits jobs to a queue: gangs, elastic ones, some that matter more.
fn jobs(queue: &'static str, pause: u64, seed: usize) -> impl FnMut(&Client, usize) + Send {
    move |client, n| {
        let count = 1 + (n * 7 + seed) % 5;
        let job = json!({"queue": queue, "priority": (n * 3) % 4,
            "min_available": if n % 2 == 0 { count } else { 1 },
            "tasks": [{"count": count, "requests": {"cpu": (1 + n % 2).to_string()}}]});
        let _ = client.try_send("POST", "/v1/jobs", Some(&job));
        sleep(Duration::from_millis(pause));
    }
}

/// What queues say they hold is what their tasks hold; read at one moment.
fn queues_add_up(client: &Client) {
    let now = |client: &Client| client.get("/v1/events").json()["next"].clone();
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < until, "the ledger does not come to rest");
        let before = now(client);
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        let mut marker = String::new();
        loop {
            let page = client.get(&format!("/v1/jobs?{marker}")).json();
            for job in page["jobs"].as_array().unwrap() {
                let id = job["id"].as_str().unwrap();
                let tasks = client.get(&format!("/v1/jobs/{id}/tasks")).json();
                for task in tasks["tasks"].as_array().into_iter().flatten() {
                    if ["Bound", "Running"].contains(&task["state"].as_str().unwrap()) {
                        *sums.entry(job["queue"].as_str().unwrap().to_owned()).or_default() +=
                            task["charged"]["VCPU"].as_i64().unwrap();
                    }
                }
            }
            match page["next"].as_str() {
                Some(next) => marker = format!("marker={next}"),
                None => break,
            }
        }
        let told = ["a", "b"].map(|queue| {
            let queue = client.get(&format!("/v1/queues/{queue}")).json();
            queue["status"]["allocated"]["VCPU"].as_i64().unwrap_or(0)
        });
        if now(client) != before {
            continue;
        }
        let expected = ["a", "b"].map(|queue| sums.get(queue).copied().unwrap_or(0));
        assert_eq!(told, expected);
        return;
    }
}

/// Nobody is above capacity, and every held room is held by its books.
fn audit(server: &Server) {
    books(&server.client());
}

#[test]
fn the_books_are_exact_after_a_storm() {
    let mut server = Builder::new().start();
    let client = server.client();
    hosts(&client, HOSTS, 8);
    // What a holds it has borrowed, as a rule; b takes back what it deserves.
    for (queue, deserved) in [("a", 4), ("b", 24)] {
        let queue = json!({"name": queue, "deserved": {"cpu": deserved},
            "capability": {"cpu": 28}});
        assert_eq!(client.post("/v1/queues", &queue).status, 201);
    }
    let uuids: Vec<String> = (0..HOSTS)
        .map(|n| client.get(&format!("/v1/hosts/h{n}")).json()["uuid"].as_str().unwrap().to_owned())
        .collect();
    let served: Served = Arc::new(Mutex::new(server.client()));
    let evictions = Arc::new(AtomicUsize::new(0));
    let holds = Arc::new(AtomicUsize::new(0));
    let part = length() / (KILLS + 1);
    for round in 0..=KILLS {
        let stop = Arc::new(AtomicBool::new(false));
        let mut all = vec![
            repeat(&served, &stop, raw_claims(uuids[0].clone())),
            repeat(&served, &stop, raw_claims(uuids[1].clone())),
            repeat(&served, &stop, raw_claims(uuids[2].clone())),
            repeat(&served, &stop, servers()),
            repeat(&served, &stop, servers()),
            repeat(&served, &stop, jobs("a", 30, round as usize)),
            repeat(&served, &stop, jobs("b", 120, 3)),
        ];
        let (mut executor, seen) =
            (Executor::new(served.clone(), HOSTS, Duration::from_millis(400)), evictions.clone());
        all.push(repeat(&served, &stop, move |_, _| {
            executor.turn();
            seen.fetch_add(std::mem::take(&mut executor.evicted), Relaxed);
        }));
        let (mut watch, seen) = (Watch::default(), holds.clone());
        all.push(repeat(&served, &stop, move |client, _| {
            watch.look(client);
            seen.fetch_add(std::mem::take(&mut watch.seen), Relaxed);
            sleep(Duration::from_millis(10));
        }));
        sleep(part);
        if round < KILLS {
            server.kill();
        }
        stop.store(true, Relaxed);
        all.into_iter().for_each(|one| one.join().unwrap());
        if round < KILLS {
            server.start_again();
            *served.lock().unwrap() = server.client();
        }
        audit(&server);
        queues_add_up(&server.client());
    }
    let jobs = server.client().get("/v1/jobs?phase=Completed&limit=1").json();
    assert_ne!(jobs["jobs"], Value::Array(Vec::new()), "some jobs ended well");
    assert!(evictions.load(Relaxed) > 0, "somebody had to leave for others");
    assert!(holds.load(Relaxed) > 0, "room was held for others");
}

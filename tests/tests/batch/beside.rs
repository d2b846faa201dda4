//! Gangs beside virtual machines, while the service is killed again and again.

use crate::cloud::{audit, gang, hosts, report, submit, tasks, wait};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, sleep},
    time::Duration,
};
use stowplan_tests::{Builder, Client, Server};
use uuid::Uuid;

const HOSTS: usize = 4;
const ROUNDS: u64 = 6;

/// Claims one processor after the other of a host as a client of Placement
/// does, and gives all back when it is full; until told to stop.
fn take_and_give(client: &Client, host: &str, stop: &AtomicBool) {
    let mut held: Vec<Uuid> = Vec::new();
    while !stop.load(Relaxed) {
        let server = Uuid::new_v4();
        let claim = json!({
            "allocations": {host: {"resources": {"VCPU": 1}}},
            "project_id": "p", "user_id": "u", "consumer_generation": null,
            "consumer_type": "INSTANCE",
        });
        // Between a kill and the next start nobody answers.
        let Ok(reply) = client.try_send("PUT", &format!("/allocations/{server}"), Some(&claim))
        else {
            return;
        };
        match reply.status {
            204 => held.push(server),
            _ => {
                for server in held.drain(..) {
                    let _ = client.try_send("DELETE", &format!("/allocations/{server}"), None);
                }
            }
        }
    }
}

/// Takes away what virtual machines still hold.
fn clear(client: &Client, host: &str) {
    let holders = client.get(&format!("/resource_providers/{host}/allocations")).json();
    for consumer in holders["allocations"].as_object().unwrap().keys() {
        let held = client.get(&format!("/allocations/{consumer}")).json();
        if held["consumer_type"] == "INSTANCE" {
            client.delete(&format!("/allocations/{consumer}"));
        }
    }
}

#[test]
fn gangs_are_whole_after_every_kill() {
    let mut server: Server =
        Builder::new().set("placement_database.sqlite_synchronous=true").start();
    hosts(&server.client(), HOSTS, 8);
    let uuid = |n: usize| {
        let shown = server.client().get(&format!("/v1/hosts/h{n}")).json();
        shown["uuid"].as_str().unwrap().to_owned()
    };
    let uuids: Vec<String> = (0..HOSTS).map(uuid).collect();
    let mut jobs: Vec<String> = Vec::new();
    for round in 0..ROUNDS {
        let stop = Arc::new(AtomicBool::new(false));
        let claims = uuids.iter().map(|host| {
            let (client, host, stop) = (server.client(), host.clone(), stop.clone());
            thread::spawn(move || take_and_give(&client, &host, &stop))
        });
        let claims: Vec<_> = claims.collect();
        let client = server.client();
        for n in 0..4 {
            jobs.push(submit(&client, &gang(&format!("gang-{round}-{n}"), 2 + n)));
            sleep(Duration::from_millis(15 + 10 * round));
        }
        server.kill();
        stop.store(true, Relaxed);
        claims.into_iter().for_each(|claim| claim.join().unwrap());
        server.start_again();
        audit(&server);
        // What was bound ends, so that there is room for the next.
        let client = server.client();
        for job in &jobs {
            report(&client, &tasks(&client, job), "Succeeded");
        }
        audit(&server);
    }
    let client = server.client();
    uuids.iter().for_each(|host| clear(&client, host));
    for job in &jobs {
        let ended = |job: &Value| job["phase"] == "Running" || job["phase"] == "Completed";
        wait(&client, job, ended);
        report(&client, &tasks(&client, job), "Succeeded");
        assert_eq!(client.get(&format!("/v1/jobs/{job}")).json()["phase"], "Completed");
    }
    audit(&server);
    let used = client.get(&format!("/resource_providers/{}/usages", uuids[0])).json();
    assert_eq!(used["usages"]["VCPU"], 0);
}

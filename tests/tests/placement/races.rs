//! Many clients at once: what one gets another cannot have, and nobody is told
//! that the service broke.

use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Barrier, thread};
use stowplan_tests::{Client, Reply, Server};
use uuid::Uuid;

/// Clients at once.
const CLIENTS: usize = 50;

/// Sends what `call` sends from all clients at the same moment.
fn at_once(server: &Server, call: impl Fn(usize, &Client) -> Reply + Sync) -> Vec<Reply> {
    let (start, call) = (&Barrier::new(CLIENTS), &call);
    thread::scope(|scope| {
        let asked: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = server.client();
                scope.spawn(move || {
                    start.wait();
                    call(number, &client)
                })
            })
            .collect();
        asked.into_iter().map(|one| one.join().expect("a client")).collect()
    })
}

/// How many got each status.
fn by_status(replies: &[Reply]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for reply in replies {
        *counts.entry(reply.status).or_default() += 1;
    }
    counts
}

fn provider(client: &Client, vcpus: i64) -> Uuid {
    let uuid = Uuid::new_v4();
    let body = json!({"uuid": uuid, "name": uuid.to_string()});
    let _ = client.post("/resource_providers", &body).expect(200);
    let body = json!({
        "resource_provider_generation": 0,
        "inventories": {"VCPU": {"total": vcpus}},
    });
    let _ = client.put(&format!("/resource_providers/{uuid}/inventories"), &body).expect(200);
    uuid
}

fn claim(at: &[Uuid], vcpus: i64, generation: Option<i64>) -> Value {
    let parts = at.iter().map(|at| (at.to_string(), json!({"resources": {"VCPU": vcpus}})));
    json!({
        "allocations": Value::Object(parts.collect()),
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": generation,
        "consumer_type": "INSTANCE",
    })
}

fn used(client: &Client, provider: Uuid) -> i64 {
    let path = format!("/resource_providers/{provider}/usages");
    client.get(&path).expect(200).json()["usages"]["VCPU"].as_i64().expect("a number")
}

#[test]
fn claims_of_many_consumers_fill_a_provider_and_no_more() {
    let server = Server::start();
    let provider = provider(&server.client(), 60);
    let replies = at_once(&server, |_, client| {
        client.put(&format!("/allocations/{}", Uuid::new_v4()), &claim(&[provider], 2, None))
    });
    assert_eq!(by_status(&replies), BTreeMap::from([(204, 30), (409, 20)]));
    assert_eq!(used(&server.client(), provider), 60);
}

#[test]
fn claims_over_two_providers_hold_on_both_or_on_none() {
    let server = Server::start();
    let client = server.client();
    let (small, large) = (provider(&client, 20), provider(&client, 35));
    let replies = at_once(&server, |number, client| {
        let at: &[Uuid] = if number % 2 == 0 { &[small, large] } else { &[large] };
        client.put(&format!("/allocations/{}", Uuid::new_v4()), &claim(at, 1, None))
    });
    // 25 ask for both and 25 for the large one, which therefore fills; how many
    // of the first kind got through only the order of arrival decides.
    let on_both = replies.iter().step_by(2).filter(|reply| reply.status == 204).count();
    let on_large = replies.iter().skip(1).step_by(2).filter(|reply| reply.status == 204).count();
    assert!(on_both <= 20, "{on_both}");
    assert_eq!(on_both + on_large, 35);
    assert_eq!(used(&client, small), on_both as i64);
    assert_eq!(used(&client, large), 35);
    assert!(by_status(&replies).keys().all(|status| [204, 409].contains(status)));
}

#[test]
fn one_of_many_writers_of_a_consumer_wins() {
    let server = Server::start();
    let client = server.client();
    let (provider, consumer) = (provider(&client, 1000), Uuid::new_v4());
    let path = format!("/allocations/{consumer}");
    for generation in [None, Some(1), Some(2)] {
        let replies = at_once(&server, |number, client| {
            client.put(&path, &claim(&[provider], number as i64 + 1, generation))
        });
        assert_eq!(by_status(&replies), BTreeMap::from([(204, 1), (409, CLIENTS - 1)]));
        let winner = replies.iter().position(|reply| reply.status == 204).expect("a winner");
        assert_eq!(used(&client, provider), winner as i64 + 1);
    }
    assert_eq!(client.get(&path).expect(200).json()["consumer_generation"], 3);
}

#[test]
fn one_of_many_writers_of_inventories_wins() {
    let server = Server::start();
    let client = server.client();
    let provider = provider(&client, 1);
    let path = format!("/resource_providers/{provider}/inventories");
    let replies = at_once(&server, |number, client| {
        let body = json!({
            "resource_provider_generation": 1,
            "inventories": {"VCPU": {"total": number + 1}},
        });
        client.put(&path, &body)
    });
    assert_eq!(by_status(&replies), BTreeMap::from([(200, 1), (409, CLIENTS - 1)]));
    let winner = replies.iter().position(|reply| reply.status == 200).expect("a winner");
    let now = client.get(&path).expect(200).json();
    assert_eq!(now["inventories"]["VCPU"]["total"], winner + 1);
    assert_eq!(now["resource_provider_generation"], 2);
}

#[test]
fn one_of_many_makers_of_a_name_wins() {
    let server = Server::start();
    let replies = at_once(&server, |_, client| {
        client.post("/resource_providers", &json!({"name": "a", "uuid": Uuid::new_v4()}))
    });
    assert_eq!(by_status(&replies), BTreeMap::from([(200, 1), (409, CLIENTS - 1)]));
    let replies = at_once(&server, |_, client| client.send("PUT", "/traits/CUSTOM_A", None));
    assert_eq!(by_status(&replies), BTreeMap::from([(201, 1), (204, CLIENTS - 1)]));
    let replies = at_once(&server, |_, client| client.delete("/traits/CUSTOM_A"));
    assert_eq!(by_status(&replies), BTreeMap::from([(204, 1), (404, CLIENTS - 1)]));
}

#[test]
fn consumers_that_trade_places_never_hold_too_much() {
    let server = Server::start();
    let client = server.client();
    let (a, b) = (provider(&client, 25), provider(&client, 25));
    let consumers: Vec<Uuid> = (0..CLIENTS).map(|_| Uuid::new_v4()).collect();
    for (number, consumer) in consumers.iter().enumerate() {
        let at = if number < 25 { a } else { b };
        let path = format!("/allocations/{consumer}");
        let _ = client.put(&path, &claim(&[at], 1, None)).expect(204);
    }
    // Both are full: a move alone is refused, an exchange in one request is not.
    // Of each pair one client asks for this and one for that.
    let replies = at_once(&server, |number, client| {
        let (one, other) = (consumers[number], consumers[(number + 25) % CLIENTS]);
        let (to, from) = if number < 25 { (b, a) } else { (a, b) };
        if number % 2 == 0 {
            return client.put(&format!("/allocations/{one}"), &claim(&[to], 1, Some(1)));
        }
        let exchange = json!({
            one.to_string(): claim(&[to], 1, Some(1)),
            other.to_string(): claim(&[from], 1, Some(1)),
        });
        client.post("/allocations", &exchange)
    });
    assert_eq!(by_status(&replies), BTreeMap::from([(204, 25), (409, 25)]));
    assert_eq!((used(&client, a), used(&client, b)), (25, 25));
}

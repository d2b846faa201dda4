//! Many clients at once: what one gets another cannot have, and nobody is told
//! that the service broke.

use crate::manner::at;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Barrier, thread};
use stowplan_tests::{Client, Reply, Server};

/// Clients at once.
const CLIENTS: usize = 50;

/// Sends what `call` sends from all clients at the same moment.
fn at_once(server: &Server, call: impl Fn(usize, &Client) -> Reply + Sync) -> BTreeMap<u16, usize> {
    let (start, call) = (&Barrier::new(CLIENTS), &call);
    let replies: Vec<Reply> = thread::scope(|scope| {
        let asked: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = compute(server);
                scope.spawn(move || {
                    start.wait();
                    call(number, &client)
                })
            })
            .collect();
        asked.into_iter().map(|one| one.join().expect("a client")).collect()
    });
    let mut counts = BTreeMap::new();
    for reply in &replies {
        *counts.entry(reply.status).or_default() += 1;
    }
    counts
}

fn compute(server: &Server) -> Client {
    at(server.client(), None)
}

fn host(client: &Client, name: &str) -> String {
    let reply = client.put(&format!("/v1/hosts/{name}"), &json!({"vcpus": 4})).expect(201);
    reply.json()["uuid"].as_str().unwrap().to_owned()
}

fn aggregate(client: &Client, name: &str, zone: Option<&str>) -> i64 {
    let body = json!({"aggregate": {"name": name, "availability_zone": zone}});
    let made = client.post("/v2.1/os-aggregates", &body).expect(200).json();
    made["aggregate"]["id"].as_i64().unwrap()
}

fn act(client: &Client, aggregate: i64, action: &str, host: &str) -> Reply {
    let body = json!({action: {"host": host}});
    client.post(&format!("/v2.1/os-aggregates/{aggregate}/action"), &body)
}

/// The hosts of an aggregate, and the Placement aggregates of a provider.
fn membership(client: &Client, aggregate: i64, provider: &str) -> (Value, Value) {
    let shown = client.get(&format!("/v2.1/os-aggregates/{aggregate}")).expect(200).json();
    let placement = client.clone().at("1.39");
    let path = format!("/resource_providers/{provider}/aggregates");
    let mirrored = placement.get(&path).expect(200).json();
    (shown["aggregate"]["hosts"].clone(), mirrored["aggregates"].clone())
}

#[test]
fn a_host_joins_once_and_leaves_once() {
    let server = Server::start();
    let client = compute(&server);
    let provider = host(&client, "h1");
    let id = aggregate(&client, "a", None);
    for (action, other, hosts, mirrored) in
        [("add_host", 409, json!(["h1"]), 1), ("remove_host", 404, json!([]), 0)]
    {
        let counts = at_once(&server, |_, client| act(client, id, action, "h1"));
        assert_eq!(counts, BTreeMap::from([(200, 1), (other, CLIENTS - 1)]), "{action}");
        let (there, placed) = membership(&client, id, &provider);
        assert_eq!((there, placed.as_array().unwrap().len()), (hosts, mirrored), "{action}");
    }
}

#[test]
fn a_host_that_two_zones_want_is_in_one() {
    let server = Server::start();
    let client = compute(&server);
    let provider = host(&client, "h1");
    let zones: Vec<i64> = (0..CLIENTS)
        .map(|number| aggregate(&client, &format!("a{number}"), Some(&format!("z{number}"))))
        .collect();
    let counts = at_once(&server, |number, client| act(client, zones[number], "add_host", "h1"));
    assert_eq!(counts, BTreeMap::from([(200, 1), (409, CLIENTS - 1)]));
    let all = client.get("/v2.1/os-aggregates").expect(200).json();
    let with_host =
        all["aggregates"].as_array().unwrap().iter().filter(|one| one["hosts"] == json!(["h1"]));
    assert_eq!(with_host.count(), 1);
    let (_, mirrored) = membership(&client, zones[0], &provider);
    assert_eq!(mirrored.as_array().unwrap().len(), 1);
}

#[test]
fn many_hosts_join_and_leave_with_their_providers() {
    let server = Server::start();
    let client = compute(&server);
    let providers: Vec<String> =
        (0..CLIENTS).map(|number| host(&client, &format!("h{number}"))).collect();
    let id = aggregate(&client, "a", None);
    let name = |number: usize| format!("h{number}");
    let counts = at_once(&server, |number, client| act(client, id, "add_host", &name(number)));
    assert_eq!(counts, BTreeMap::from([(200, CLIENTS)]));
    // Every second one leaves while its neighbour is asked to join again.
    let counts = at_once(&server, |number, client| {
        let action = if number % 2 == 0 { "remove_host" } else { "add_host" };
        act(client, id, action, &name(number))
    });
    assert_eq!(counts, BTreeMap::from([(200, CLIENTS / 2), (409, CLIENTS / 2)]));
    for (number, provider) in providers.iter().enumerate() {
        let (hosts, mirrored) = membership(&client, id, provider);
        let is_in = hosts.as_array().unwrap().contains(&json!(name(number)));
        assert_eq!(is_in, number % 2 == 1, "{number}");
        assert_eq!(mirrored.as_array().unwrap().len(), usize::from(is_in), "{number}");
    }
}

#[test]
fn one_of_many_makers_of_a_name_wins() {
    let server = Server::start();
    let body = json!({"aggregate": {"name": "a"}});
    let counts = at_once(&server, |_, client| client.post("/v2.1/os-aggregates", &body));
    assert_eq!(counts, BTreeMap::from([(200, 1), (409, CLIENTS - 1)]));
}

#[test]
fn the_quota_of_groups_holds_at_any_concurrency() {
    let server = Server::with(&["quota.server_groups=7"]);
    let body = json!({"server_group": {"name": "a", "policy": "affinity"}});
    let counts = at_once(&server, |_, client| client.post("/v2.1/os-server-groups", &body));
    assert_eq!(counts, BTreeMap::from([(200, 7), (403, CLIENTS - 7)]));
    let listed = compute(&server).get("/v2.1/os-server-groups").expect(200).json();
    assert_eq!(listed["server_groups"].as_array().unwrap().len(), 7);
}

#[test]
fn a_service_goes_once() {
    let server = Server::start();
    let client = compute(&server);
    let _ = host(&client, "h1");
    let services = client.get("/v2.1/os-services").expect(200).json();
    let path = format!("/v2.1/os-services/{}", services["services"][0]["id"].as_str().unwrap());
    let counts = at_once(&server, |_, client| client.delete(&path));
    assert_eq!(counts, BTreeMap::from([(204, 1), (404, CLIENTS - 1)]));
}

//! What is acknowledged is there after a kill.

use crate::manner::at;
use serde_json::{Value, json};
use stowplan_tests::{Client, Server};

/// Everything that the surface shows and that is not a time of a heartbeat.
fn shown(client: &Client) -> Vec<Value> {
    let paths = [
        "/v2.1/os-aggregates",
        "/v2.1/os-server-groups?all_projects=1",
        "/v2.1/os-availability-zone",
        "/v2.1/os-hypervisors/detail?with_servers=true",
        "/resource_providers?required=COMPUTE_STATUS_DISABLED",
    ];
    let mut all: Vec<Value> =
        paths.iter().map(|path| client.get(path).expect(200).json()).collect();
    let mut services = client.get("/v2.1/os-services").expect(200).json();
    for service in services["services"].as_array_mut().unwrap() {
        service.as_object_mut().unwrap().remove("updated_at");
    }
    all.push(services);
    all
}

fn client_of(server: &Server) -> Client {
    at(server.client(), None).header("openstack-api-version", "compute 2.102, placement 1.39")
}

#[test]
fn a_restart_keeps_all() {
    let mut server = Server::start();
    let client = client_of(&server);
    for host in ["h1", "h2"] {
        let report = json!({"vcpus": 4, "memory_mb": 1024, "uptime": "up"});
        let _ = client.put(&format!("/v1/hosts/{host}"), &report).expect(201);
    }
    let send = |method: &str, path: &str, body: Value, status: u16| {
        client.send(method, &format!("/v2.1/{path}"), Some(&body)).expect(status).json()
    };
    send("POST", "os-aggregates", json!({"aggregate": {"name": "gone"}}), 200);
    let zone = json!({"aggregate": {"name": "a", "availability_zone": "east"}});
    send("POST", "os-aggregates", zone, 200);
    let _ = client.delete("/v2.1/os-aggregates/1").expect(200);
    send("POST", "os-aggregates/2/action", json!({"add_host": {"host": "h1"}}), 200);
    let metadata = json!({"set_metadata": {"metadata": {"ssd": "true"}}});
    send("POST", "os-aggregates/2/action", metadata, 200);
    let group = json!({"server_group": {
        "name": "g", "policy": "anti-affinity", "rules": {"max_server_per_host": 2},
    }});
    let group = send("POST", "os-server-groups", group, 200);
    let select = json!({
        "flavor": {"name": "f", "vcpus": 1}, "group": group["server_group"]["id"],
    });
    let _ = client.post("/v1/select_destinations", &select).expect(200);
    let services = client.get("/v2.1/os-services?host=h2").expect(200).json();
    let service = format!("os-services/{}", services["services"][0]["id"].as_str().unwrap());
    let off = json!({"status": "disabled", "disabled_reason": "fire", "forced_down": true});
    send("PUT", &service, off, 200);

    let before = shown(&client);
    assert_eq!(before[1]["server_groups"][0]["members"].as_array().unwrap().len(), 1);
    assert_eq!(before[4]["resource_providers"].as_array().unwrap().len(), 1);
    server.kill();
    server.start_again();
    let client = client_of(&server);
    assert_eq!(shown(&client), before);
    let next = client.post("/v2.1/os-aggregates", &json!({"aggregate": {"name": "b"}}));
    assert_eq!(next.expect(200).json()["aggregate"]["id"], 3);
}

//! Options that change what the surface answers.

use crate::manner::at;
use serde_json::{Value, json};
use stowplan_tests::{Client, Server};

fn compute(server: &Server) -> Client {
    at(server.client(), None)
}

fn links(document: &Value) -> Vec<&str> {
    let links = document["links"].as_array().unwrap();
    links.iter().map(|link| link["href"].as_str().unwrap()).collect()
}

#[test]
fn a_prefix_has_the_list_of_versions() {
    let server = Server::with(&["api.compute_prefix=/compute", "api.placement_prefix=/placement"]);
    let nobody = server.client().header("x-auth-token", "").header("host", "cloud.example");
    for path in ["/compute", "/compute/"] {
        let versions = nobody.get(path).expect(200).json();
        let version = &versions["versions"][0];
        assert_eq!((&version["id"], &version["version"]), (&json!("v2.1"), &json!("2.102")));
        assert_eq!(links(version), ["http://cloud.example/compute/v2.1/"]);
    }
    for path in ["/compute/v2.1", "/compute/v2.1/"] {
        let version = nobody.get(path).expect(200).json();
        assert_eq!(links(&version["version"])[0], "http://cloud.example/compute/v2.1/");
    }
    let client = compute(&server);
    for host in ["h1", "h2"] {
        let _ = client.put(&format!("/v1/hosts/{host}"), &json!({"vcpus": 1})).expect(201);
    }
    let page = client.clone().header("host", "cloud.example");
    let page = page.get("/compute/v2.1/os-hypervisors?limit=1").expect(200).json();
    let next = page["hypervisors_links"][0]["href"].as_str().unwrap();
    assert!(next.starts_with("http://cloud.example/compute/v2.1/os-hypervisors?"), "{next}");
    let other = client.get("/compute/other").expect(404).json();
    assert_eq!(other["itemNotFound"]["code"], 404);
    // Both stay where they are without the prefix.
    let _ = client.get("/v2.1/os-aggregates").expect(200);
    let _ = client.get("/placement/v2.1").expect(404);
}

#[test]
fn proxies_are_told_in_links_where_they_are_believed() {
    let server = Server::with(&["oslo_middleware.enable_proxy_headers_parsing=true"]);
    let client = server.client().header("x-forwarded-proto", "https");
    let client =
        client.header("x-forwarded-host", "cloud.example").header("x-forwarded-prefix", "/nova");
    let version = client.get("/v2.1/").expect(200).json();
    assert_eq!(
        links(&version["version"]),
        ["https://cloud.example/nova/v2.1/", "https://cloud.example/nova/docs/"]
    );
}

#[test]
fn pages_are_no_longer_than_the_option_says() {
    let server = Server::with(&["api.max_limit=2"]);
    let client = compute(&server);
    for host in ["h1", "h2", "h3"] {
        let _ = client.put(&format!("/v1/hosts/{host}"), &json!({"vcpus": 1})).expect(201);
        let group = json!({"server_group": {"name": host, "policy": "affinity"}});
        let _ = client.post("/v2.1/os-server-groups", &group).expect(200);
    }
    for path in ["os-hypervisors", "os-hypervisors?limit=9"] {
        let page = client.get(&format!("/v2.1/{path}")).expect(200).json();
        assert_eq!(page["hypervisors"].as_array().unwrap().len(), 2, "{path}");
        assert_eq!(page["hypervisors_links"][0]["rel"], "next", "{path}");
    }
    for path in ["os-server-groups", "os-server-groups?limit=9"] {
        let page = client.get(&format!("/v2.1/{path}")).expect(200).json();
        assert_eq!(page["server_groups"].as_array().unwrap().len(), 2, "{path}");
    }
    // The oldest form has no pages.
    let old = at(server.client(), Some("2.32")).get("/v2.1/os-hypervisors").expect(200).json();
    assert_eq!(old["hypervisors"].as_array().unwrap().len(), 3);
}

#[test]
fn zones_have_the_names_of_the_options() {
    let server = Server::with(&[
        "DEFAULT.default_availability_zone=main",
        "DEFAULT.internal_service_availability_zone=inner",
    ]);
    let client = compute(&server);
    let _ = client.put("/v1/hosts/h1", &json!({"vcpus": 1})).expect(201);
    let service = json!({"service": {"binary": "nova-conductor"}});
    let _ = client.put("/v1/hosts/c1", &service).expect(201);
    let names = |path: &str| {
        let zones = client.get(path).expect(200).json();
        let zones = zones["availabilityZoneInfo"].as_array().unwrap().clone();
        zones.iter().map(|zone| zone["zoneName"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("/v2.1/os-availability-zone"), ["main"]);
    assert_eq!(names("/v2.1/os-availability-zone/detail"), ["inner", "main"]);
    // Zones that are not available come last, each part in order of names.
    for (zone, host, disabled) in [("b", "h2", true), ("a", "h3", true), ("z", "h4", false)] {
        let report = json!({"vcpus": 1, "service": {"disabled": disabled}});
        let _ = client.put(&format!("/v1/hosts/{host}"), &report).expect(201);
        let aggregate = json!({"name": zone, "availability_zone": zone, "hosts": [host]});
        let _ = client.post("/v1/aggregates", &aggregate).expect(201);
    }
    assert_eq!(names("/v2.1/os-availability-zone"), ["main", "z", "a", "b"]);
}

#[test]
fn the_older_defaults_of_rules_let_owners_in() {
    let server = Server::with(&["oslo_policy.enforce_new_defaults=false"]);
    let client = compute(&server).header("x-auth-token", "ann:p");
    let group = json!({"server_group": {"name": "a", "policy": "affinity"}});
    let made = client.post("/v2.1/os-server-groups", &group).expect(200).json();
    let path = format!("/v2.1/os-server-groups/{}", made["server_group"]["id"].as_str().unwrap());
    let _ = client.get(&path).expect(200);
    let _ = client.clone().header("x-auth-token", "bob:q").delete(&path).expect(403);
    let _ = client.get("/v2.1/os-aggregates").expect(403);
    let _ = client.delete(&path).expect(204);
}

#[test]
fn a_policy_file_is_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("scheduler.conf");
    std::fs::write(&config, "[DEFAULT]\n").unwrap();
    let rules = "os_compute_api:os-services: is_admin:True or role:watcher\n\
                 os_compute_api:os-availability-zone:list: role:reader\n";
    std::fs::write(folder.path().join("policy.yaml"), rules).unwrap();
    let server = stowplan_tests::Builder::new().config(&config).start();
    let client = compute(&server);
    let watcher = client.clone().header("x-auth-token", "w:p").header("x-roles", "watcher");
    let _ = watcher.get("/v2.1/os-services").expect(200);
    let _ = watcher.get("/v2.1/os-hypervisors").expect(403);
    let _ = watcher.get("/v2.1/os-availability-zone").expect(403);
    let _ = client.get("/v2.1/os-services").expect(200);
}

#[test]
fn the_quota_of_groups_is_an_option() {
    let group = json!({"server_group": {"name": "a", "policy": "affinity"}});
    for (limit, made) in [(0, 0), (2, 2), (-1, 12)] {
        let server = Server::with(&[&format!("quota.server_groups={limit}")]);
        let client = compute(&server);
        let statuses = (0..12).map(|_| client.post("/v2.1/os-server-groups", &group).status);
        assert_eq!(statuses.filter(|status| *status == 200).count(), made, "{limit}");
    }
}

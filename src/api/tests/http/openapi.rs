//! The description of the API: the file is what the code says, and the code
//! serves what it describes.

use crate::server::Server;
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::PathBuf};

const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

#[test]
fn the_file_is_what_the_code_says() {
    let mut text = stowplan_api::openapi().to_pretty_json().unwrap();
    text.push('\n');
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../api-ref/openapi.json");
    if std::env::var_os("UPDATE").is_some_and(|update| update == "1") {
        fs::write(&path, &text).unwrap();
    }
    let on_disk = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        on_disk == text,
        "api-ref/openapi.json is stale; UPDATE=1 cargo test -p stowplan-api --test http"
    );
}

#[test]
fn every_path_has_the_methods_that_are_described() {
    let server = Server::start(|_| ());
    let document = server.latest("GET", "/openapi.json", "").json();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 15);
    for (path, item) in paths {
        let described: BTreeSet<String> = METHODS
            .iter()
            .filter(|method| item.get(*method).is_some())
            .map(|method| method.to_uppercase())
            .collect();
        let filled = path.replace(['{', '}'], "");
        let answer = server.latest("PROPFIND", &filled, "");
        assert_eq!(answer.status, 405, "{path}");
        let allowed = answer.header("allow").unwrap();
        let allowed: BTreeSet<String> = allowed.split(", ").map(str::to_owned).collect();
        assert_eq!(allowed, described, "{path}");
    }
}

#[test]
fn placement_calls_say_their_version_and_their_token() {
    let document: Value =
        serde_json::from_str(&stowplan_api::openapi().to_json().unwrap()).unwrap();
    assert_eq!(document["info"]["license"]["name"], "Apache-2.0");
    assert_eq!(document["components"]["securitySchemes"]["token"]["name"], "X-Auth-Token");
    let list = &document["paths"]["/allocation_candidates"]["get"];
    assert_eq!(list["x-openstack"]["min-ver"], "1.10");
    assert_eq!(list["security"][0]["token"], Value::Array(Vec::new()));
    let parameters = list["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|parameter| parameter["name"] == "OpenStack-API-Version"));
}

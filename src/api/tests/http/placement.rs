//! Rules of the Placement API that only show over several calls.

use crate::server::Server;

const HOST: &str = "2290d4af-9e6e-400b-9d65-1ee01376f71a";
const ONE: &str = "11111111-1111-4111-8111-111111111111";
const TWO: &str = "22222222-2222-4222-8222-222222222222";

/// A server with one provider of so many units of one class.
fn with_inventory(inventory: &str) -> Server {
    let server = Server::start(|_| ());
    let body = format!(r#"{{"name": "host", "uuid": "{HOST}"}}"#);
    assert_eq!(server.latest("POST", "/resource_providers", &body).status, 200);
    let body =
        format!(r#"{{"resource_provider_generation": 0, "inventories": {{"VCPU": {inventory}}}}}"#);
    let path = format!("/resource_providers/{HOST}/inventories");
    let answer = server.latest("PUT", &path, &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    server
}

fn claim(units: i64, generation: &str) -> String {
    format!(
        r#"{{"allocations": {{"{HOST}": {{"resources": {{"VCPU": {units}}}}}}}, "project_id": "p",
            "user_id": "u", "consumer_generation": {generation}, "consumer_type": "INSTANCE"}}"#
    )
}

fn used(server: &Server) -> i64 {
    let answer = server.latest("GET", &format!("/resource_providers/{HOST}/usages"), "");
    answer.json()["usages"]["VCPU"].as_i64().unwrap()
}

#[test]
fn claims_that_overrun_only_together_change_nothing() {
    let server = with_inventory(r#"{"total": 4}"#);
    let body = format!(r#"{{"{ONE}": {}, "{TWO}": {}}}"#, claim(3, "null"), claim(2, "null"));
    let answer = server.latest("POST", "/allocations", &body);
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(answer.body.contains("would exceed the capacity"));
    assert_eq!(used(&server), 0);
    for consumer in [ONE, TWO] {
        let answer = server.latest("GET", &format!("/allocations/{consumer}"), "");
        assert_eq!(answer.body, r#"{"allocations":{}}"#);
        assert_eq!(server.latest("DELETE", &format!("/allocations/{consumer}"), "").status, 404);
    }
}

#[test]
fn generations_that_have_moved_on_are_conflicts() {
    let server = with_inventory(r#"{"total": 4}"#);
    let path = format!("/allocations/{ONE}");
    assert_eq!(server.latest("PUT", &path, &claim(1, "null")).status, 204);
    for (method, path, body) in [
        ("PUT", path.clone(), claim(2, "null")),
        ("PUT", path.clone(), claim(2, "7")),
        (
            "PUT",
            format!("/resource_providers/{HOST}/inventories"),
            r#"{"resource_provider_generation": 0, "inventories": {}}"#.to_owned(),
        ),
        (
            "PUT",
            format!("/resource_providers/{HOST}/traits"),
            r#"{"resource_provider_generation": 0, "traits": []}"#.to_owned(),
        ),
        (
            "PUT",
            format!("/resource_providers/{HOST}/aggregates"),
            r#"{"resource_provider_generation": 0, "aggregates": []}"#.to_owned(),
        ),
    ] {
        let answer = server.latest(method, &path, &body);
        assert_eq!(answer.status, 409, "{path} {body}: {answer:?}");
        assert_eq!(answer.json()["errors"][0]["code"], "placement.concurrent_update", "{path}");
    }
    assert_eq!(server.latest("PUT", &path, &claim(2, "1")).status, 204);
    assert_eq!(used(&server), 2);
}

#[test]
fn units_hold_with_a_ratio_too() {
    for (inventory, fits, fits_not) in [
        (r#"{"total": 3, "allocation_ratio": 1.5}"#, 4, 5),
        (r#"{"total": 8, "allocation_ratio": 16, "max_unit": 8}"#, 8, 16),
        (r#"{"total": 8, "step_size": 2}"#, 4, 3),
        (r#"{"total": 8, "min_unit": 2}"#, 2, 1),
    ] {
        let server = with_inventory(inventory);
        let path = format!("/allocations/{ONE}");
        let refused = server.latest("PUT", &path, &claim(fits_not, "null"));
        assert_eq!(refused.status, 409, "{inventory} {refused:?}");
        assert_eq!(used(&server), 0);
        assert_eq!(server.latest("PUT", &path, &claim(fits, "null")).status, 204, "{inventory}");
    }
}

#[test]
fn candidates_grow_with_the_microversion() {
    let server = with_inventory(r#"{"total": 4}"#);
    let at = |version: &str| {
        let header = format!("OpenStack-API-Version: placement {version}");
        server.send("GET", "/allocation_candidates?resources=VCPU:1", &[&header], "").json()
    };
    let old = at("1.10");
    let listed = &old["allocation_requests"][0]["allocations"][0];
    assert_eq!(listed["resource_provider"]["uuid"], HOST);
    assert_eq!(listed["resources"]["VCPU"], 1);
    assert!(old["provider_summaries"][HOST].get("traits").is_none());
    let new = at("1.39");
    let request = &new["allocation_requests"][0];
    assert_eq!(request["allocations"][HOST]["resources"]["VCPU"], 1);
    assert_eq!(request["mappings"][""][0], HOST);
    let summary = &new["provider_summaries"][HOST];
    assert_eq!(summary["resources"]["VCPU"]["capacity"], 4);
    assert_eq!(summary["root_provider_uuid"], HOST);
    assert!(summary["parent_provider_uuid"].is_null() && summary["traits"].is_array());
}

#[test]
fn faults_of_a_body_name_the_field_and_the_value() {
    let server = Server::start(|_| ());
    let detail = |body: &str| {
        let answer = server.latest("POST", "/resource_providers", body);
        assert_eq!(answer.status, 400, "{body}");
        answer.json()["errors"][0]["detail"].as_str().unwrap().to_owned()
    };
    assert!(detail("{\"name\": }").contains("Malformed JSON:"));
    let fault = detail(r#"{"name": "a", "uuid": "b"}"#);
    assert!(fault.contains("JSON does not validate: 'b' is not a 'uuid'"), "{fault}");
    assert!(fault.contains("Failed validating 'format' in schema['properties']['uuid']"));
    assert!(detail(r#"{"name": "a", "colour": 1}"#).contains("'colour' was unexpected"));
}

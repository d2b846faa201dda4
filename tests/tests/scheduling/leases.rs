//! `[scheduler] claim_lease`.

use crate::{hosts, small, used};
use serde_json::json;
use std::{thread, time::Duration};
use stowplan_tests::Server;
use uuid::Uuid;

#[test]
fn only_what_is_confirmed_outlives_its_lease_over_a_kill_too() {
    let mut server = Server::with(&["scheduler.claim_lease=2"]);
    let client = server.client();
    hosts(&client, 1, 8);
    let select = |server: &Server| {
        let answer = server.client().post("/v1/select_destinations", &small(json!({})));
        answer.expect(200).json()
    };
    let (kept, reported, lost) = (select(&server), select(&server), select(&server));
    let path = |answer: &serde_json::Value| {
        format!("/v1/decisions/{}/confirm", answer["decision_id"].as_str().unwrap())
    };
    let said = client.post(&path(&kept), &json!({})).expect(200).json();
    let instance = |answer: &serde_json::Value| answer["selections"][0]["instance_uuid"].clone();
    assert_eq!(said, json!({"confirmed": [instance(&kept)], "gone": []}));
    let report = json!({"vcpus": 8, "memory_mb": 65536, "local_gb": 1000,
        "instances": {instance(&reported).as_str().unwrap(): {}}});
    let _ = client.put("/v1/hosts/h0", &report).expect(200);
    server.kill();
    server.start_again();
    let mut left = used(&server);
    for _ in 0..400 {
        if left == 2 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
        left = used(&server);
    }
    assert_eq!(left, 2);
    server.wait_for_log("claims were not confirmed and are released");
    let client = server.client();
    let said = client.post(&path(&lost), &json!({})).expect(200).json();
    assert_eq!(said, json!({"confirmed": [], "gone": [instance(&lost)]}));
    let said = client.post(&path(&reported), &json!({})).expect(200).json();
    assert_eq!(said["confirmed"], json!([instance(&reported)]));
    let unknown = format!("/v1/decisions/{}/confirm", Uuid::new_v4());
    let _ = client.post(&unknown, &json!({})).expect(404);
}

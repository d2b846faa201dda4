//! Shadow mode beside a scheduler that answers.

use serde_json::json;
use std::time::Duration;
use stowplan_tests::Cli;

use crate::Stage;
use crate::wire::{object, servers, spec};

#[tokio::test(flavor = "multi_thread")]
async fn copies_are_decided_compared_and_never_answered() {
    let Some(stage) = Stage::set(&["scheduler.mode=shadow"]).await else { return };
    let wire = &stage.wire;
    // The queue of the scheduler that answers: its calls stay there.
    wire.declare("scheduler").await;
    let bind = lapin::options::QueueBindOptions::default();
    let bound = wire.channel.queue_bind(
        "scheduler".into(),
        "nova".into(),
        "scheduler".into(),
        bind,
        Default::default(),
    );
    bound.await.unwrap();
    let mut only = spec(1);
    only["nova_object.data"]["requested_destination"] =
        object("Destination", "1.4", json!({"host": "cmp-1", "node": "cmp-1"}));
    let (alike, other) = (servers(1)[0], servers(1)[0]);
    for server in [alike, other] {
        wire.cast(&wire.select(only.clone(), &[server])).await;
    }
    for (server, host) in [(alike, "cmp-1"), (other, "cmp-2")] {
        // Nothing is claimed by us; the other scheduler claims what it has chosen.
        let provider = stage.host(host)["uuid"].clone();
        assert_eq!(stage.held(server), 0);
        let claim = json!({
            "allocations": {provider.as_str().unwrap(): {"resources": {"VCPU": 1}}},
            "project_id": "p", "user_id": "u", "consumer_generation": null,
            "consumer_type": "INSTANCE",
        });
        let put = stage.client().put(&format!("/allocations/{server}"), &claim);
        assert_eq!(put.status, 204, "{:?}", put.json());
    }
    let report = || stage.client().get("/v1/shadow").expect(200).json();
    stage
        .wait_until("both are compared", || {
            let report = report();
            report["agreed"].as_u64().unwrap() + report["differed"].as_u64().unwrap() == 2
        })
        .await;
    let report = report();
    assert_eq!((&report["agreed"], &report["differed"]), (&json!(1), &json!(1)));
    let difference = &report["differences"][0];
    assert_eq!(
        (&difference["ours"]["host"], &difference["theirs"]["host"]),
        (&json!("cmp-1"), &json!("cmp-2"))
    );
    assert!(difference["reason"].as_str().unwrap().contains("cmp-2"));
    assert_eq!(wire.next(&wire.queue, Duration::from_millis(300)).await, None);
    assert!(wire.next("scheduler", Duration::ZERO).await.is_some());
    let shown =
        Cli::new(["shadow", "report", "--url", stage.server.url()].map(str::to_owned).to_vec());
    let shown = shown.run();
    assert!(shown.stdout.contains("2 servers: 1 alike (50.0 %), 1 not"), "{}", shown.stdout);
}

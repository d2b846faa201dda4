//! What is recorded of decisions.

use serde_json::{Value, json};

use crate::cloud::{Cloud, host, small, small_with};

async fn body(cloud: &Cloud, id: Option<stowplan_model::Uuid>) -> Value {
    cloud.scheduler.drain().await;
    cloud.scheduler.decision(&id.unwrap().to_string()).await.unwrap().body.unwrap()
}

#[tokio::test]
async fn a_decision_tells_filters_and_weights() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 3, 4).await;
    let mut silent = host(64);
    silent["service"] = json!({"last_seen_up": 5});
    cloud.report("silent", silent).await;
    let decided_on = cloud.image().seq();
    let answer = cloud.select(small()).await;
    let decision =
        cloud.scheduler.decision(&answer.decision_id.unwrap().to_string()).await.unwrap();
    assert_eq!((decision.kind.as_str(), decision.outcome.as_str()), ("servers", "placed"));
    assert_eq!(decision.seq, cloud.image().seq());
    assert_eq!(decision.header["decided_on"], decided_on);
    assert_eq!(decision.seed, answer.seed);
    assert_eq!(decision.header["hosts"][0]["host"], answer.selections[0].destination.host);

    let body = body(&cloud, answer.decision_id).await;
    assert_eq!(body["candidates"], 4);
    assert_eq!(body["query"][0]["groups"][0]["resources"]["VCPU"], 1);
    let explanation = &body["servers"][0]["explanation"];
    let compute = &explanation["filters"][0];
    assert_eq!(compute["filter"], "ComputeFilter");
    assert_eq!((&compute["before"], &compute["after"]), (&json!(4), &json!(3)));
    assert_eq!(compute["losers"][0]["host"], "silent");
    assert_eq!(compute["losers"][0]["reason"]["kind"], "service_silent");
    let weights = explanation["weights"]["hosts"].as_array().unwrap();
    assert_eq!(weights.len(), 3);
    let part = &weights[0]["parts"][0];
    for key in ["weigher", "raw", "normalized", "multiplier", "source", "product"] {
        assert!(!part[key].is_null(), "{key} of {part}");
    }
}

#[tokio::test]
async fn a_refusal_is_recorded_with_its_losses() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 4).await;
    let refusal = cloud.no_host(json!({"flavor": {"vcpus": 9, "memory_mb": 1}})).await;
    let id = refusal.decision_id.unwrap();
    let decision = cloud.scheduler.decision(&id.to_string()).await.unwrap();
    assert_eq!(decision.outcome, "no_valid_host");
    assert_eq!(decision.header["reasons"][0], refusal.reasons[0]);
    let body = body(&cloud, Some(id)).await;
    let losses = body["losses"].as_array().unwrap();
    let vcpu = losses.iter().find(|loss| loss["requirement"] == "9 VCPU").unwrap();
    assert_eq!((&vcpu["before"], &vcpu["after"]), (&json!(2), &json!(0)));
    assert_eq!(vcpu["nearest"]["largest_free"], 4);
    assert_eq!(vcpu["nearest"]["provider_name"], "h0");
    let listed = cloud.scheduler.decisions(Some("req-test"), 10).await.unwrap().decisions;
    assert_eq!(listed.iter().map(|d| d.id).collect::<Vec<_>>(), [id]);
    assert!(cloud.scheduler.decisions(Some("req-other"), 10).await.unwrap().decisions.is_empty());
}

#[tokio::test]
async fn only_known_fields_are_kept() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let answer = cloud
        .select(small_with(json!({
            "scheduler_hints": {"token": "s3cret", "same_host": "x"},
            "image": {"id": "i", "properties": {"password": "s3cret", "hw_vif_model": "virtio"}},
        })))
        .await;
    let body = body(&cloud, answer.decision_id).await;
    assert!(!body.to_string().contains("s3cret"), "{body}");
    assert_eq!(body["request"]["scheduler_hints"], json!({"same_host": ["x"]}));
    assert_eq!(body["request"]["image"]["properties"], json!({"hw_vif_model": "virtio"}));
}

#[tokio::test]
async fn without_rows_nothing_is_recorded() {
    let cloud = Cloud::with(|settings| settings.decisions.max_rows = 0).await;
    cloud.report("h1", host(4)).await;
    assert_eq!(cloud.select(small()).await.decision_id, None);
    assert!(cloud.scheduler.decisions(None, 10).await.unwrap().decisions.is_empty());
}

#[tokio::test]
async fn what_leaves_nothing_behind_needs_no_writer() {
    let cloud = Cloud::with(|settings| settings.decisions.max_rows = 0).await;
    cloud.report("h1", host(4)).await;
    cloud.scheduler.ledger().close().await;
    let dry = cloud.select(small_with(json!({"dry_run": true}))).await;
    assert_eq!(dry.selections[0].destination.host, "h1");
    cloud.no_host(small_with(json!({"flavor": {"vcpus": 5, "memory_mb": 64}}))).await;
}

#[tokio::test]
async fn old_decisions_give_way() {
    let cloud = Cloud::with(|settings| settings.decisions.max_rows = 3).await;
    cloud.report("h1", host(4)).await;
    let dry = small_with(json!({"dry_run": true}));
    // What is kept is looked at after every thousand.
    for _ in 0..1000 {
        cloud.select(dry.clone()).await;
    }
    cloud.scheduler.drain().await;
    cloud.select(dry).await;
    cloud.scheduler.drain().await;
    assert!(cloud.scheduler.decisions(None, 100).await.unwrap().decisions.len() <= 65);
}

//! Claims that must be confirmed in time.

use serde_json::json;
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::{Call, SchedulerError};

use crate::cloud::{CALL, Cloud, NOW, host, refused, small, small_with, uuid};

fn later(seconds: i64) -> Call<'static> {
    Call { now: Micros(NOW.0 + seconds * 1_000_000), ..CALL }
}

impl Cloud {
    async fn leasing() -> Self {
        let cloud = Self::with(|settings| settings.scheduler.claim_lease = 30).await;
        cloud.hosts("h", 2, 8).await;
        cloud
    }

    async fn expire(&self, seconds: i64) -> Vec<Uuid> {
        refused(self.scheduler.expire_claims(later(seconds)).await).unwrap()
    }
}

#[tokio::test]
async fn a_claim_that_nobody_confirms_is_released_in_one_mutation() {
    let cloud = Cloud::leasing().await;
    let group = cloud.group("anti-affinity").await;
    let asked = small_with(json!({"group": group, "instance_uuids": [uuid(1), uuid(2)]}));
    cloud.select(asked).await;
    let seq = cloud.image().seq();
    assert!(cloud.expire(29).await.is_empty());
    assert_eq!(cloud.image().seq(), seq);
    let mut released = cloud.expire(30).await;
    released.sort_unstable();
    assert_eq!(released, [uuid(1), uuid(2)]);
    let image = cloud.image();
    assert_eq!(image.seq(), seq + 1);
    assert!(image.consumers.is_empty());
    assert!(image.server_groups.get(group).unwrap().members.is_empty());
    assert_eq!((cloud.used("h0", "VCPU"), cloud.used("h1", "VCPU")), (0, 0));
    let journal = cloud.scheduler.ledger().journal(seq, 10).await.unwrap();
    assert_eq!(journal[0].change.kind, "claims.expire");
}

#[tokio::test]
async fn without_a_lease_claims_stay() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 1, 8).await;
    cloud.select(small()).await;
    assert!(cloud.expire(i64::from(u32::MAX)).await.is_empty());
    assert_eq!(cloud.image().consumers.len(), 1);
}

#[tokio::test]
async fn a_report_confirms_for_good() {
    let cloud = Cloud::leasing().await;
    cloud.select(small_with(json!({"instance_uuids": [uuid(1)], "force_hosts": ["h0"]}))).await;
    cloud.select(small_with(json!({"instance_uuids": [uuid(2)], "force_hosts": ["h0"]}))).await;
    let mut report = host(8);
    report["instances"] = json!({uuid(1).to_string(): {}});
    cloud.report("h0", report).await;
    // The next one does not list it any more.
    cloud.report("h0", host(8)).await;
    assert_eq!(cloud.expire(30).await, [uuid(2)]);
    let image = cloud.image();
    let kept = image.consumers.get(uuid(1)).unwrap();
    assert_eq!((kept.lease(), kept.generation), (None, 1));
    assert_eq!(image.consumers.leased().count(), 0);
}

#[tokio::test]
async fn whoever_asked_confirms() {
    let cloud = Cloud::leasing().await;
    let servers: Vec<Uuid> = (1..=3).map(uuid).collect();
    let answer = cloud.select(small_with(json!({"instance_uuids": servers}))).await;
    let decision = answer.decision_id.unwrap().to_string();
    let confirm = async |id: &str| refused(cloud.scheduler.confirm(CALL, id).await);
    for _ in 0..2 {
        let said = confirm(&decision).await.unwrap();
        assert_eq!((said.confirmed, said.gone), (servers.clone(), vec![]));
    }
    assert!(cloud.expire(30).await.is_empty());
    // More than a header names with their hosts.
    let many = cloud.select(small_with(json!({"count": 2}))).await;
    cloud.expire(60).await;
    let said = confirm(&many.decision_id.unwrap().to_string()).await.unwrap();
    assert_eq!((said.confirmed.len(), said.gone.len()), (0, 2));

    let dry = cloud.select(small_with(json!({"dry_run": true}))).await.decision_id.unwrap();
    let error = confirm(&dry.to_string()).await.unwrap_err();
    assert_eq!(error.status(), 409);
    assert!(error.to_string().ends_with("its outcome is dry_run, expected placed"), "{error}");
    let unknown = uuid(99).to_string();
    assert_eq!(confirm(&unknown).await, Err(SchedulerError::DecisionNotFound(unknown.clone())));
}

#[tokio::test]
async fn what_somebody_else_has_changed_is_theirs() {
    let cloud = Cloud::leasing().await;
    cloud.select(small_with(json!({"instance_uuids": [uuid(1)]}))).await;
    // The same amounts, written by a client of the Placement API.
    let rewrite = |image: &stowplan_ledger::Image| {
        let row = image.consumer_row(image.consumers.get(uuid(1)).unwrap());
        let held = row.allocations.iter();
        let claim = stowplan_placement::claims::ConsumerClaim {
            consumer: uuid(1),
            generation: stowplan_placement::claims::ConsumerGeneration::Is(row.generation),
            project: row.project.clone(),
            user: row.user.clone(),
            consumer_type: None,
            allocations: vec![stowplan_placement::claims::ProviderClaim {
                provider: row.allocations[0].provider,
                resources: held.map(|it| (it.class.clone(), it.used)).collect(),
            }],
            origin: None,
        };
        let records = stowplan_placement::claims::allocation_records(image, &[claim], NOW)?;
        Ok::<_, SchedulerError>((stowplan_ledger::Change { kind: "put".into(), records }, ()))
    };
    cloud.scheduler.ledger().write("req", rewrite).await.unwrap();
    assert!(cloud.expire(3600).await.is_empty());
    assert_eq!(cloud.image().consumers.len(), 1);
}

#[tokio::test]
async fn a_server_that_moves_has_no_lease() {
    let cloud = Cloud::leasing().await;
    let asked = small_with(json!({"instance_uuids": [uuid(1)], "force_hosts": ["h0"]}));
    let decision = cloud.select(asked).await.decision_id.unwrap().to_string();
    refused(cloud.scheduler.confirm(CALL, &decision).await).unwrap();
    cloud.select(small_with(json!({"instance_uuids": [uuid(1)], "ignore_hosts": ["h0"]}))).await;
    assert!(cloud.expire(3600).await.is_empty());
    assert_eq!((cloud.used("h0", "VCPU"), cloud.used("h1", "VCPU")), (1, 1));
}

//! Virtual machines and gangs on the same hosts at the same time.

use crate::cloud::{Cloud, fresh};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stowplan_batch::store::{BindTerms, Submission, Terms, submit};
use stowplan_model::Uuid;

fn terms() -> Terms {
    Terms { cycle: 1, request_id: "r".into(), evictions: BindTerms { keep: 1, loop_window: 0 } }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_is_over_capacity_and_no_gang_is_half() {
    let cloud = Arc::new(Cloud::new().await);
    let mut hosts = Vec::new();
    for n in 0..6 {
        hosts.push(cloud.host(&format!("h{n}"), 8, 1.0).await);
    }
    for n in 0..12 {
        let min = 2 + n % 4;
        let body = format!(
            r#"{{"name": "gang-{n}", "min_available": {min}, "tasks": [
                {{"role": "w", "count": {min}, "requests": {{"cpu": 1}}}}]}}"#
        );
        cloud.submit(&body).await;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let claims = hosts.iter().map(|&host| {
        let (cloud, stop) = (cloud.clone(), stop.clone());
        tokio::spawn(async move {
            let mut taken: Vec<Uuid> = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                match cloud.claim(host, 1).await {
                    Ok(server) => taken.push(server),
                    Err(_) => {
                        for server in taken.drain(..) {
                            let gone = move |image: &stowplan_ledger::Image| {
                                stowplan_placement::claims::delete_allocations(image, server)
                            };
                            cloud.ledger.write("test", gone).await.unwrap();
                        }
                    }
                }
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
        })
    });
    let claims: Vec<_> = claims.collect();
    let (mut binds, mut refusals) = (0, 0);
    for _ in 0..40 {
        let report = cloud.cycle().await;
        binds += report.binds;
        refusals += report.refusals;
        cloud.audit();
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    stop.store(true, Ordering::Relaxed);
    for claim in claims {
        claim.await.unwrap();
    }
    cloud.audit();
    assert!(binds > 0, "some gangs were placed ({refusals} statements were refused)");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_between_decision_and_commit_is_seen() {
    use stowplan_batch::session::{Bind, Evict, Plan, Take};
    use stowplan_batch::store::{BindRefusal, bind};

    let cloud = Cloud::new().await;
    let host = cloud.host("a", 4, 1.0).await;
    let job = cloud.submit(r#"{"tasks": [{"count": 2, "requests": {"cpu": 2}}]}"#).await;
    let plan = Plan {
        statement: 0,
        job,
        binds: cloud
            .tasks(job)
            .iter()
            .map(|task| Bind {
                cells: Vec::new(),
                task: task.id,
                attempt: 0,
                host,
                takes: vec![Take { provider: host, class: "VCPU".to_owned(), amount: 2 }],
                hint: None,
            })
            .collect(),
        evicts: Vec::new(),
        nominations: Vec::new(),
    };
    let before = cloud.image();
    cloud.claim(host, 1).await.unwrap();
    let refusal = bind(&cloud.image(), &plan, &terms(), cloud.now()).unwrap_err();
    assert!(matches!(refusal, BindRefusal::Claim(_)) && refusal.may_retry(), "{refusal}");
    // Nobody is evicted on the word of an older image.
    let evict = Evict { task: job, attempt: 1, host };
    let evicting = Plan { evicts: vec![evict], ..plan.clone() };
    let refusal = bind(&before, &evicting, &terms(), cloud.now()).unwrap_err();
    assert_eq!(refusal, BindRefusal::TaskChanged(job));
    // The same plan holds on the image that it was made for, but not in halves.
    assert!(bind(&before, &plan, &terms(), cloud.now()).is_ok());
    let half = Plan { binds: plan.binds[..1].to_vec(), ..plan.clone() };
    let refusal = bind(&before, &half, &terms(), cloud.now()).unwrap_err();
    assert_eq!(refusal, BindRefusal::BelowMinimum { ready: 1, needed: 2 });
    let other = Plan { job: fresh(), ..plan };
    assert_eq!(bind(&before, &other, &terms(), cloud.now()).unwrap_err(), BindRefusal::JobEnded);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_queues_are_checked_at_submission() {
    let cloud = Cloud::new().await;
    let job = cloud.submit(r#"{"name": "one", "tasks": [{}]}"#).await;
    let spec = cloud.job(job).spec.unwrap();
    let submission = |name: &str, queue: &str| Submission {
        uuid: fresh(),
        namespace: "project".to_owned(),
        name: name.to_owned(),
        queue: queue.to_owned(),
        suspend: false,
        key: None,
        spec: spec.clone(),
    };
    let refused = |name, queue| {
        submit(&cloud.image(), &submission(name, queue), cloud.now()).unwrap_err().to_string()
    };
    assert!(refused("one", "default").contains("has a job \"one\" already"));
    assert!(refused("two", "gold").contains("queue is \"gold\""));
    assert!(refused("two", "root").contains("takes no jobs"));
}

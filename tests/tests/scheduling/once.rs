//! `Idempotency-Key`.

use crate::{hosts, small, used};
use serde_json::json;
use std::thread;
use stowplan_tests::Server;

#[test]
fn a_key_is_answered_once_over_a_kill_too() {
    let mut server = Server::start();
    hosts(&server.client(), 2, 4);
    let send = |server: &Server, key: &str, count: i64| {
        let client = server.client().header("idempotency-key", key);
        client.post("/v1/select_destinations", &small(json!({"count": count})))
    };
    let first = send(&server, "k", 2).expect(200);
    assert_eq!(first.header("idempotency-replayed"), "");
    let refused = send(&server, "n", 9).expect(409);
    server.kill();
    server.start_again();
    let again = send(&server, "k", 2).expect(200);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.body, first.body);
    assert_eq!(again.header("content-type"), "application/json");
    let refused_again = send(&server, "n", 9).expect(409).json();
    assert_eq!(refused_again["decision_id"], refused.json()["decision_id"]);
    assert_eq!(refused_again["reasons"], refused.json()["reasons"]);
    let other = send(&server, "k", 1).expect(422).json();
    assert_eq!(other["type"], "/docs/errors#key-reused");
    assert!(other["detail"].as_str().unwrap().contains("\"k\""), "{other}");
    let long = send(&server, &"k".repeat(256), 1).expect(400).json();
    assert_eq!(long["errors"][0]["field"], "Idempotency-Key");
    assert_eq!(used(&server), 2);
}

#[test]
fn clients_at_once_get_one_answer() {
    let server = Server::start();
    hosts(&server.client(), 4, 64);
    for round in 0..30 {
        let client = server.client().header("idempotency-key", &format!("round-{round}"));
        let answers: Vec<String> = thread::scope(|scope| {
            let calls: Vec<_> = (0..6)
                .map(|_| {
                    let send = || client.post("/v1/select_destinations", &small(json!({})));
                    scope.spawn(move || send().expect(200).body)
                })
                .collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{round}");
        assert_eq!(used(&server), round + 1);
    }
}

#[test]
fn keys_are_forgotten_in_time() {
    let server = Server::with(&["api.idempotency_key_lifetime=1s"]);
    hosts(&server.client(), 1, 4);
    let client = server.client().header("idempotency-key", "k");
    let ask = || client.post("/v1/select_destinations", &small(json!({}))).expect(200).json();
    let first = ask();
    // Whether it is forgotten is asked of the server, not of a clock.
    let mut later = ask();
    for _ in 0..200 {
        if later != first {
            break;
        }
        thread::sleep(std::time::Duration::from_millis(50));
        later = ask();
    }
    assert_ne!(later, first);
}

//! A disk that is full: what cannot be kept is refused, and nothing that was
//! acknowledged is lost.

use serde_json::json;
use std::collections::BTreeSet;
use stowplan_tests::{Builder, Server};

/// Blocks that the database's files may hold: enough to start, and for some
/// hundred providers.
const BLOCKS: u32 = 8192;
/// Requests: without a limit on files they all come through.
const REQUESTS: usize = 1500;

#[test]
fn nothing_acknowledged_is_lost_when_the_disk_is_full() {
    let mut server = Builder::new().file_limit(BLOCKS).start();
    let mut kept = BTreeSet::new();
    let mut refused = 0;
    for number in 0..REQUESTS {
        let name = format!("{number}-{}", "x".repeat(190));
        let reply = server.client().post("/resource_providers", &json!({"name": name}));
        match reply.status {
            200 => drop(kept.insert(name)),
            503 => refused += 1,
            status => panic!("{status}: {}", reply.body),
        }
        if refused == 10 {
            break;
        }
    }
    assert!(refused > 0, "the limit was not met");
    assert_eq!(names(&server), kept, "while it is full");
    server.kill();
    server.lift_file_limit();
    server.start_again();
    assert_eq!(names(&server), kept, "after it was killed");
    let _ = server.client().post("/resource_providers", &json!({"name": "room again"})).expect(200);
}

fn names(server: &Server) -> BTreeSet<String> {
    let listed = server.client().get("/resource_providers").expect(200).json();
    let providers = listed["resource_providers"].as_array().cloned().unwrap_or_default();
    providers.iter().filter_map(|it| it["name"].as_str()).map(str::to_owned).collect()
}

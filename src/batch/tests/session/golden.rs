//! Recorded cases of the peer: when a gang is ready, when it is pipelined, and
//! when it only leaves.

use serde_json::Value;
use stowplan_batch::amounts::DimIx;
use stowplan_batch::plugins::Gang;
use stowplan_batch::session::{Plugin, State, Status, Vote};

use crate::bench::{Tasks, add_job, cpu, state};

fn status(word: &str) -> Status {
    match word {
        "Pending" => Status::Pending,
        "Allocated" => Status::Allocated,
        "Pipelined" => Status::Pipelined,
        "Binding" => Status::Binding,
        "Bound" => Status::Bound,
        "Running" => Status::Running,
        "Releasing" => Status::Releasing,
        "Succeeded" => Status::Succeeded,
        "Failed" => Status::Failed,
        "Unknown" => Status::Unknown,
        other => panic!("state {other} in a recorded case"),
    }
}

fn job(case: &Value, state: &mut State) -> stowplan_batch::session::JobIx {
    let some = vec![(DimIx::CPU, 1)];
    let mut roles = Vec::new();
    if let Some(counts) = case["task_counts_by_state"].as_object() {
        for (word, count) in counts {
            let (word, request) = match word.split_once(':') {
                Some((word, "best_effort")) => (word, Vec::new()),
                _ => (word.as_str(), some.clone()),
            };
            let count = count.as_u64().unwrap() as u32;
            roles.push(Tasks { count, request, status: Some(status(word)), ..Tasks::default() });
        }
    }
    for task in case["tasks"].as_array().into_iter().flatten() {
        let status = Some(status(task["state"].as_str().unwrap()));
        roles.push(Tasks { count: 1, request: some.clone(), status, ..Tasks::default() });
    }
    let min_available = case["min_available"].as_u64().unwrap() as u32;
    add_job(state, "p/recorded", min_available, &roles)
}

#[test]
fn gangs_as_recorded() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/volcano/gang.json");
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut checks = 0;
    for case in &cases {
        let mut state = state(&[cpu(1)]);
        let job = job(case, &mut state);
        let at = &state[job];
        for (key, expected) in case["expect"].as_object().unwrap() {
            let got = match key.as_str() {
                "ready" => Gang.job_ready(&state, job),
                "pipelined" => Gang.job_pipelined(&state, job) == Vote::Permit,
                "skip_unschedulable_condition" => at.census.is_leaving(at.min_available),
                other => panic!("{other} is expected by a recorded case"),
            };
            assert_eq!(got, expected.as_bool().unwrap(), "{}: {key}", case["name"]);
            checks += 1;
        }
    }
    assert_eq!((cases.len(), checks), (12, 12));
}

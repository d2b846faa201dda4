//! What queues may hold, and what is admitted to them.

use crate::bench::{Accept, Host, NOW, Tasks, add_job, cpu, cycle_with, placed, tasks, world};
use crate::bench::{only, settings};
use serde_json::{Value, json};
use stowplan_batch::amounts::DimIx;
use stowplan_batch::life::JobPhase;
use stowplan_batch::scenario::BatchScenario;
use stowplan_batch::session::{NodeGroups, Queue, QueueIx, State, Status};
use stowplan_engine::HostIx;
use stowplan_engine::table::HostFacts;

#[test]
fn nominated_tasks_count_in_the_limits_of_groups() {
    let labels = [("volcano.sh/nodegroup-name".to_owned(), "a".to_owned())].into();
    let facts = HostFacts { labels, ..HostFacts::default() };
    let mut state = State::new(world(&[Host { facts, ..cpu(8) }]), NOW);
    let groups = NodeGroups { node_group_required: vec!["a".to_owned()], ..NodeGroups::default() };
    let group_limits = [("a".to_owned(), vec![(DimIx::CPU, 3)])].into();
    let groups = Some(groups.into());
    state.add_queue(Queue { created: NOW, groups, group_limits, ..Queue::named("default") });
    let queue = Some(QueueIx(0));
    // Two cores are promised to a task of an earlier cycle.
    let (status, host) = (Some(Status::Pipelined), Some(HostIx(0)));
    let promised = Tasks { status, host, queue, ..tasks("worker", 1, 2) };
    let promised = add_job(&mut state, "p/promised", 1, &[promised]);
    let ask = state.shape_of(state[promised].tasks[0]).clone();
    state.world.promise(HostIx(0), ask.ask());
    let job = add_job(&mut state, "p/job", 1, &[Tasks { queue, ..tasks("worker", 2, 1) }]);
    let closed =
        cycle_with(only(&["gang", "predicates", "nodegroup"]), state, &mut Accept::default());
    assert_eq!(placed(&closed.state, job), [Some("h00".to_owned()), None]);
}

/// Whether a job that needs so many cores is admitted to a queue of four that
/// are all held by a job of lower priority, which needs `least` of them.
fn admitted(needs: i64, least: Option<i64>) -> bool {
    let cores = |cores: i64| json!({"cpu": cores * 1000, "memory": 1 << 30});
    let task = |job: &str, index: usize, node: &str, cpu: i64| {
        json!({
            "name": format!("{job}-w-{index}"), "namespace": "p", "role": "w", "node": node,
            "phase": if node.is_empty() { "Pending" } else { "Running" }, "requests": cores(cpu),
        })
    };
    let running: Vec<Value> = (0..4).map(|index| task("low", index, "h0", 1)).collect();
    let scenario: BatchScenario = serde_json::from_value(json!({
        "name": "any", "actions": ["enqueue"],
        "nodes": [{"name": "h0", "allocatable": {"cpu": 20_000, "memory": 64_i64 << 30, "pods": 20}}],
        "queues": [{"name": "q", "capability": {"cpu": 4000}}],
        "priority_classes": [{"name": "low", "value": 1}, {"name": "high", "value": 10}],
        "tiers": [[{"name": "priority"}, {"name": "gang"},
            {"name": "capacity", "arguments": {"enqueueByPriority": true}}]],
        "jobs": [
            {"name": "low", "namespace": "p", "queue": "q", "min_member": 1, "phase": "Running",
             "priority_class": "low", "tasks": running,
             "min_resources": least.map(|least| json!({"cpu": least * 1000}))},
            {"name": "high", "namespace": "p", "queue": "q", "min_member": 1, "phase": "Pending",
             "priority_class": "high", "tasks": [task("high", 0, "", needs)],
             "min_resources": {"cpu": needs * 1000}},
        ],
    }))
    .unwrap();
    let came = scenario.evaluate(&settings(), &[]).unwrap().first;
    came.phases["p/high"] == JobPhase::Inqueue
}

#[test]
fn what_a_job_yields_counts_once() {
    for least in [None, Some(0), Some(2), Some(4)] {
        assert!(admitted(4, least), "all four could be had of a job that needs {least:?}");
        for needs in 5..=8 {
            assert!(!admitted(needs, least), "{needs} of 4, the other needs {least:?}");
        }
    }
}

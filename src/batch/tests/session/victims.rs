//! Who leaves for others, and who stays because a plugin keeps it.

use crate::bench::{Accept, OPTIONS, Tasks, add_job, cpu, state, tasks};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_batch::actions::actions;
use stowplan_batch::scenario::BatchScenario;
use stowplan_batch::session::{Plugin, Point, Seat, Session, State, Status, TaskIx, Tiers};
use stowplan_config::Settings;
use stowplan_engine::HostIx;

const NOW: i64 = 10_000;

/// A task of one core of job `low`; `cooling`: it has just started.
fn runs(index: usize, cooling: bool) -> Value {
    json!({
        "name": format!("low-w-{index}"), "namespace": "p", "role": "w", "phase": "Running",
        "node": "h0", "requests": {"cpu": 1000, "memory": 1 << 30}, "started": NOW - 60,
        "annotations": if cooling { json!({"volcano.sh/cooldown-time": "10m"}) } else { json!({}) },
    })
}

/// The tasks that leave the one host, all of which `low` holds, for a task of
/// `needs` cores.
fn leaving(action: &str, cooling: &[bool], min: usize, needs: i64) -> BTreeSet<String> {
    let size = cooling.len() as i64 * 1000;
    let across = action.ends_with("reclaim");
    let queue = |name: &str, deserved: i64| json!({"name": name, "deserved": {"cpu": deserved}});
    let tasks: Vec<Value> =
        cooling.iter().enumerate().map(|(index, cooling)| runs(index, *cooling)).collect();
    let scenario: BatchScenario = serde_json::from_value(json!({
        "name": "any", "now": NOW, "actions": [action],
        "nodes": [{"name": "h0",
            "allocatable": {"cpu": size, "memory": 64_i64 << 30, "pods": 20}}],
        "queues": [queue("q0", 0), queue("q1", size)],
        "priority_classes": [{"name": "low", "value": 1}, {"name": "high", "value": 10}],
        "jobs": [
            {"name": "low", "namespace": "p", "queue": "q0", "min_member": min,
             "priority_class": "low", "phase": "Running", "tasks": tasks},
            {"name": "high", "namespace": "p", "queue": if across { "q1" } else { "q0" },
             "min_member": 1, "priority_class": "high", "phase": "Inqueue", "tasks": [
                {"name": "high-w-0", "namespace": "p", "role": "w", "phase": "Pending",
                 "requests": {"cpu": needs * 1000, "memory": 1 << 30}}]},
        ],
    }))
    .unwrap();
    let mut settings = Settings::default();
    settings.batch.tiers[0].push("cdp".to_owned());
    let evicts = scenario.evaluate(&settings, &[]).unwrap().first.evicts;
    evicts.into_iter().map(|id| id.trim_start_matches("p/low-w-").to_owned()).collect()
}

#[test]
fn a_job_that_a_plugin_keeps_a_spare_task_of_does_not_go_whole() {
    for action in ["preempt", "reclaim", "gangpreempt", "gangreclaim"] {
        let all = leaving(action, &[false; 3], 2, 2);
        assert_eq!(all.len(), 3, "{action}: {all:?}");
        // The one that the job could spare has just started.
        for cooling in 0..3 {
            let mut given = [false; 3];
            given[cooling] = true;
            let gone = leaving(action, &given, 2, 2);
            assert!(
                gone.len() <= 1,
                "{action}, {cooling} stays: {gone:?} of 3 leave, 2 are needed"
            );
        }
        // What the job can spare goes alone where that is enough.
        assert_eq!(leaving(action, &[false; 3], 2, 1).len(), 1, "{action}");
    }
}

/// Names so many of the running tasks once a minute.
struct Names(&'static str, usize);

impl Plugin for Names {
    fn name(&self) -> &'static str {
        self.0
    }

    fn points(&self) -> &'static [Point] {
        &[Point::VictimTasks]
    }

    fn victim_period(&self) -> Option<i64> {
        Some(60_000_000)
    }

    fn victim_tasks(&mut self, _: &State, running: &[TaskIx]) -> Vec<TaskIx> {
        running.iter().copied().take(self.1).collect()
    }
}

#[test]
fn shuffle_notes_those_alone_that_were_asked() {
    // A tier that names tasks leaves nothing to those behind it.
    for (named, asked) in [(0, vec!["a", "b", "c"]), (1, vec!["a", "b"])] {
        let seat = |name, count| Seat::new(Box::new(Names(name, count)), |_| true);
        let tiers = vec![vec![seat("a", 0), seat("b", named)], vec![seat("c", 1)]];
        let mut state = state(&[cpu(4)]);
        let (status, host) = (Some(Status::Running), Some(HostIx(0)));
        add_job(&mut state, "p/runs", 0, &[Tasks { status, host, ..tasks("worker", 2, 1) }]);
        let mut commits = Accept::default();
        let mut session = Session::open(state, Tiers::new(tiers), OPTIONS, &mut commits);
        for action in actions(["shuffle"], &BTreeMap::new()).unwrap() {
            action.run(&mut session);
        }
        let noted: Vec<&str> = session.state.diary.keys().copied().collect();
        assert_eq!(noted, asked);
        drop(session);
        assert_eq!(commits.plans.len(), 1);
    }
}

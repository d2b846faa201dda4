//! What the plugins of projects, budgets, groups and zones hold to in any
//! cluster.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use stowplan_batch::scenario::{BatchScenario, Outcome};
use stowplan_config::Settings;

const GROUP: &str = "volcano.sh/nodegroup-name";
const ZONE: &str = "volcano.sh/revocable-zone";

/// A job to be made: its project, queue, tasks of one core, how many run, its
/// minimum, its budget, whether it is marked for zones.
#[derive(Clone, Debug)]
struct Plan {
    project: usize,
    queue: usize,
    tasks: usize,
    running: usize,
    min: usize,
    budget: u32,
    marked: bool,
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let plan = (0..2usize, 0..2usize, 1..6usize, 0..6usize, 0..6usize, 0..4u32, any::<bool>())
        .prop_map(|(project, queue, tasks, running, min, budget, marked)| {
            let running = running.min(tasks);
            let min = min.min(if running > 0 { running } else { tasks });
            Plan { project, queue, tasks, running, min, budget, marked }
        });
    proptest::collection::vec(plan, 1..8)
}

/// Four hosts of six cores: without a group, in groups a and b, in a zone.
fn hosts() -> Value {
    let host = |name: &str, labels: Value| {
        json!({"name": name, "labels": labels,
            "allocatable": {"cpu": 6000, "memory": 1_i64 << 36, "pods": 20}})
    };
    json!([
        host("n", json!({})),
        host("a", json!({GROUP: "a"})),
        host("b", json!({GROUP: "b"})),
        host("z", json!({ZONE: "rz"})),
    ])
}

/// Jobs whose running tasks stand on hosts that `may` lets them on, as far as
/// there is room.
fn jobs(plans: &[Plan], may: impl Fn(&Plan, &str) -> bool) -> Value {
    let mut free: BTreeMap<&str, usize> = ["n", "a", "b", "z"].map(|host| (host, 6)).into();
    let job = |(number, plan): (usize, &Plan)| {
        let mut task = |index: usize| {
            let runs = index < plan.running;
            let host = free.iter_mut().find(|(host, left)| runs && **left > 0 && may(plan, host));
            let host = host.map(|(host, left)| {
                *left -= 1;
                *host
            });
            let notes = if plan.marked { json!({ZONE: "*"}) } else { json!({}) };
            json!({
                "name": format!("j{number}-w-{index}"), "namespace": format!("p{}", plan.project),
                "role": "w", "phase": if host.is_some() { "Running" } else { "Pending" },
                "node": host.unwrap_or_default(), "annotations": notes,
                "requests": {"cpu": 1000, "memory": 1_i64 << 30},
            })
        };
        let tasks: Vec<Value> = (0..plan.tasks).map(&mut task).collect();
        let placed = tasks.iter().filter(|task| task["node"] != "").count();
        json!({
            "name": format!("j{number}"), "namespace": format!("p{}", plan.project),
            "queue": format!("q{}", plan.queue), "priority_class": format!("c{}", number % 3),
            "min_member": if placed > 0 { plan.min.min(placed) } else { plan.min },
            "min_resources": {"cpu": 1000 * plan.min},
            "phase": if placed > 0 { "Running" } else { "Pending" },
            "annotations": {"volcano.sh/jdb-max-unavailable": plan.budget.to_string()},
            "tasks": tasks,
        })
    };
    plans.iter().enumerate().map(job).collect()
}

fn run(plans: &[Plan], may: impl Fn(&Plan, &str) -> bool, more: Value) -> (Value, Outcome) {
    let classes = ["c0", "c1", "c2"].iter().zip(0..);
    let classes: Vec<Value> =
        classes.map(|(name, value)| json!({"name": name, "value": value})).collect();
    let mut cluster = json!({
        "name": "any", "nodes": hosts(), "queues": [{"name": "q0"}, {"name": "q1"}],
        "priority_classes": classes, "jobs": jobs(plans, may),
    });
    for (key, value) in more.as_object().unwrap() {
        cluster[key] = value.clone();
    }
    let scenario: BatchScenario = serde_json::from_value(cluster.clone()).unwrap();
    let came = scenario.evaluate(&Settings::default(), &[]).unwrap().first;
    (cluster, came)
}

/// Every task with its job, its host before and its host after.
fn moves<'c>(
    cluster: &'c Value,
    came: &'c Outcome,
) -> impl Iterator<Item = (&'c Value, &'c Value, String, Option<String>)> {
    let jobs = cluster["jobs"].as_array().unwrap();
    let tasks = jobs
        .iter()
        .flat_map(|job| job["tasks"].as_array().unwrap().iter().map(move |task| (job, task)));
    tasks.map(|(job, task)| {
        let text = |key: &str| task[key].as_str().unwrap().to_owned();
        let id = format!("{}/{}", text("namespace"), text("name"));
        let before = text("node");
        let stays = (!before.is_empty() && !came.evicts.contains(&id)).then(|| before.clone());
        let comes = came.binds.get(&id).or_else(|| came.pipelined.get(&id)).cloned();
        (job, task, before, stays.or(comes))
    })
}

fn plugins(names: &[&str]) -> Value {
    json!([names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_project_goes_above_its_quota(plans in plans(), hard in 0..12i64) {
        let (cluster, came) = run(&plans, |_, _| true, json!({
            "resource_quotas": [{"namespace": "p0", "hard": {"cpu": hard * 1000}}],
            "tiers": plugins(&["priority", "gang", "predicates", "resourcequota"]),
            "actions": ["enqueue", "allocate", "backfill", "preempt"],
        }));
        let of_project = |(job, _, before, after): (&Value, _, String, Option<String>)| {
            (job["namespace"] == "p0").then(|| (!before.is_empty(), after.is_some()))
        };
        let all: Vec<(bool, bool)> = moves(&cluster, &came).filter_map(of_project).collect();
        let count = |held: fn(&(bool, bool)) -> bool| all.iter().filter(|it| held(it)).count() as i64;
        let (before, after) = (count(|it| it.0), count(|it| it.1));
        prop_assert!(after <= hard.max(before), "{before} before, {after} after: {came:?}");
    }

    #[test]
    fn no_job_loses_more_than_its_budget(plans in plans()) {
        let (cluster, came) = run(&plans, |_, _| true, json!({
            "tiers": plugins(&["priority", "gang", "predicates", "pdb"]),
            "actions": ["enqueue", "allocate", "backfill", "preempt"],
        }));
        let mut gone: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (job, _, before, _) in moves(&cluster, &came) {
            let at = gone.entry(job["name"].as_str().unwrap()).or_default();
            at.0 += usize::from(!before.is_empty());
        }
        for id in &came.evicts {
            let job = id.split(['/', '-']).nth(1).unwrap();
            gone.get_mut(job).unwrap().1 += 1;
        }
        for (name, (ran, gone)) in gone {
            let number: usize = name[1..].parse().unwrap();
            let missing = plans[number].tasks - ran;
            let allowed = (plans[number].budget as usize).saturating_sub(missing);
            prop_assert!(gone <= allowed, "{name} lost {gone} of {allowed}: {came:?}");
        }
    }

    #[test]
    fn queues_keep_to_their_groups_and_limits(plans in plans(), limit in 0..6i64) {
        let groups = [
            json!({"name": "q0", "affinity": {"node_group_required": ["a"],
                "node_group_preferred": ["b"]}, "node_group_limits": {"b": {"cpu": limit * 1000}}}),
            json!({"name": "q1"}),
        ];
        let may = |plan: &Plan, host: &str| if plan.queue == 0 { host == "a" } else { host == "n" };
        let not_strict = json!({"name": "nodegroup", "arguments": {"strict": false}});
        let (cluster, came) = run(&plans, may, json!({
            "queues": groups,
            "tiers": [[{"name": "priority"}, {"name": "gang"}, {"name": "predicates"}, not_strict]],
            "actions": ["enqueue", "allocate", "backfill", "preempt"],
        }));
        let mut in_b = 0;
        for (job, _, _, after) in moves(&cluster, &came) {
            let Some(host) = after else { continue };
            let grouped = host == "a" || host == "b";
            prop_assert_eq!(grouped, job["queue"] == "q0", "{}: {:?}", job["name"], came);
            in_b += i64::from(host == "b");
        }
        prop_assert!(in_b <= limit, "{in_b} of {limit}: {came:?}");
    }

    #[test]
    fn zones_are_for_marked_tasks_while_they_are_open(plans in plans(), hour in 0..24i64) {
        let may = |plan: &Plan, host: &str| host != "z" || plan.marked;
        let tdm = json!({"name": "tdm", "arguments": {"tdm.revocable-zone.rz": "8:00-20:00"}});
        let (cluster, came) = run(&plans, may, json!({
            "now": hour * 3600 + 1800,
            "tiers": [[{"name": "priority"}, {"name": "gang"}, {"name": "predicates"}, tdm]],
            "actions": ["enqueue", "allocate", "backfill", "shuffle"],
        }));
        let is_open = (8..20).contains(&hour);
        for (_, task, before, after) in moves(&cluster, &came) {
            let came_to_zone = before.is_empty() && after.as_deref() == Some("z");
            let marked = task["annotations"][ZONE] == "*";
            prop_assert!(!came_to_zone || (is_open && marked), "{}: {came:?}", task["name"]);
            let left = before == "z" && after.as_deref() != Some("z");
            prop_assert!(!left || !is_open, "{} was sent away: {came:?}", task["name"]);
        }
        let sent = |job: &Value| {
            let prefix = format!("{}-", job["name"].as_str().unwrap());
            came.evicts.iter().filter(|id| id.split('/').nth(1).unwrap().starts_with(&prefix)).count()
        };
        for (job, plan) in cluster["jobs"].as_array().unwrap().iter().zip(&plans) {
            prop_assert!(sent(job) <= plan.budget as usize, "{}: {came:?}", job["name"]);
        }
    }
}

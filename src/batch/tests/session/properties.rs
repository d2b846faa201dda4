//! What holds of any cluster: gangs are placed and evicted whole, limits and
//! guarantees are kept, and the same state gives the same decision.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use stowplan_batch::scenario::{BatchScenario, Outcome};
use stowplan_config::Settings;

const GIB: i64 = 1 << 30;

/// A job to be made: its queue, priority class, how many tasks of how much, how
/// many of them run, its minimum.
#[derive(Clone, Debug)]
struct JobPlan {
    queue: usize,
    class: usize,
    tasks: usize,
    cpu: i64,
    running: usize,
    min: usize,
}

fn jobs() -> impl Strategy<Value = Vec<JobPlan>> {
    let job = (0..3usize, 0..3usize, 1..5usize, 1..4i64, 0..5usize, 0..5usize);
    let job = job.prop_map(|(queue, class, tasks, cpu, running, min)| {
        let running = running.min(tasks);
        // A job that runs has its minimum.
        let min = if running > 0 { min.min(running) } else { min.min(tasks) };
        JobPlan { queue, class, tasks, cpu, running, min }
    });
    proptest::collection::vec(job, 1..9)
}

/// What a queue may hold, deserves and is guaranteed, in cores.
fn queues() -> impl Strategy<Value = Vec<(i64, i64, i64)>> {
    let queue = (4..20i64, 0..10i64, 0..4i64);
    let ordered = queue.prop_map(|(cap, deserved, guarantee)| {
        let deserved = deserved.min(cap);
        (cap, deserved, guarantee.min(deserved))
    });
    proptest::collection::vec(ordered, 3)
}

/// A cluster in which what runs has room, and what each queue holds there.
fn cluster(hosts: &[i64], queues: &[(i64, i64, i64)], jobs: &[JobPlan]) -> (Value, Vec<i64>) {
    let mut free: Vec<i64> = hosts.to_vec();
    let mut held = vec![0; queues.len()];
    let mut made = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let mut places = Vec::new();
        for _ in 0..job.running {
            let within = held[job.queue] + job.cpu <= queues[job.queue].0;
            let host = free.iter().position(|free| *free >= job.cpu).filter(|_| within);
            if let Some(host) = host {
                free[host] -= job.cpu;
                held[job.queue] += job.cpu;
                places.push(host);
            }
        }
        let min = if places.is_empty() { job.min } else { job.min.min(places.len()) };
        let task = |index: usize| {
            let host = places.get(index).map(|host| format!("h{host}"));
            json!({
                "name": format!("j{number}-w-{index}"), "namespace": "p", "role": "w",
                "phase": if host.is_some() { "Running" } else { "Pending" },
                "node": host.unwrap_or_default(),
                "requests": {"cpu": job.cpu * 1000, "memory": GIB},
            })
        };
        let class = ["low", "mid", "high"][job.class];
        made.push(json!({
            "name": format!("j{number}"), "namespace": "p", "queue": format!("q{}", job.queue),
            "min_member": min, "priority_class": class,
            "phase": if places.is_empty() { "Pending" } else { "Running" },
            "tasks": (0..job.tasks).map(task).collect::<Vec<_>>(),
        }));
    }
    let node = |(number, cpu): (usize, &i64)| {
        json!({
            "name": format!("h{number}"),
            "allocatable": {"cpu": cpu * 1000, "memory": 64 * GIB, "pods": 20},
        })
    };
    let queue = |(number, (cap, deserved, guarantee)): (usize, &(i64, i64, i64))| {
        json!({
            "name": format!("q{number}"), "capability": {"cpu": cap * 1000},
            "deserved": {"cpu": deserved * 1000},
            "guarantee": {"resource": {"cpu": guarantee * 1000}},
        })
    };
    let classes = [("low", 1), ("mid", 10), ("high", 100)];
    let cluster = json!({
        "name": "any", "nodes": hosts.iter().enumerate().map(node).collect::<Vec<_>>(),
        "queues": queues.iter().enumerate().map(queue).collect::<Vec<_>>(),
        "priority_classes": classes.map(|(name, value)| json!({"name": name, "value": value})),
        "jobs": made,
    });
    (cluster, held)
}

fn run(cluster: &Value, actions: &[&str]) -> Outcome {
    let mut cluster = cluster.clone();
    cluster["actions"] = json!(actions);
    let scenario: BatchScenario = serde_json::from_value(cluster).unwrap();
    scenario.evaluate(&Settings::default(), &[]).unwrap().first
}

/// The tasks of a job with the host on which each runs.
fn tasks(job: &Value) -> Vec<(String, String, i64)> {
    let task = |task: &Value| {
        let text = |key: &str| task[key].as_str().unwrap().to_owned();
        (format!("p/{}", text("name")), text("node"), task["requests"]["cpu"].as_i64().unwrap())
    };
    job["tasks"].as_array().unwrap().iter().map(task).collect()
}

/// Where every task is once evicted ones have left and those that were promised
/// room have come.
fn after(cluster: &Value, came: &Outcome) -> BTreeMap<String, (String, i64, String)> {
    let mut all = BTreeMap::new();
    for job in cluster["jobs"].as_array().unwrap() {
        for (id, node, cpu) in tasks(job) {
            let stays = (!node.is_empty() && !came.evicts.contains(&id)).then_some(node);
            let comes = came.binds.get(&id).or_else(|| came.pipelined.get(&id)).cloned();
            if let Some(node) = stays.or(comes) {
                all.insert(id, (node, cpu, job["queue"].as_str().unwrap().to_owned()));
            }
        }
    }
    all
}

const ALL: [&str; 5] = ["enqueue", "allocate", "backfill", "reclaim", "preempt"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn gangs_are_placed_and_evicted_whole(
        hosts in proptest::collection::vec(2..9i64, 1..5), queues in queues(), jobs in jobs(),
    ) {
        let (cluster, _) = cluster(&hosts, &queues, &jobs);
        let came = run(&cluster, &ALL);
        for job in cluster["jobs"].as_array().unwrap() {
            let min = job["min_member"].as_u64().unwrap() as usize;
            let tasks = tasks(job);
            let ran = tasks.iter().filter(|(_, node, _)| !node.is_empty()).count();
            let bound = tasks.iter().filter(|(id, ..)| came.binds.contains_key(id)).count();
            let gone = tasks.iter().filter(|(id, ..)| came.evicts.contains(id)).count();
            let left = ran + bound - gone;
            prop_assert!(left == 0 || left >= min, "{}: {left} of {min}: {came:?}", job["name"]);
        }
    }

    #[test]
    fn nothing_goes_above_a_host_or_a_capability(
        hosts in proptest::collection::vec(2..9i64, 1..5), queues in queues(), jobs in jobs(),
    ) {
        let (cluster, _) = cluster(&hosts, &queues, &jobs);
        let came = run(&cluster, &ALL);
        let (mut on_hosts, mut in_queues) = (BTreeMap::new(), BTreeMap::new());
        for (node, cpu, queue) in after(&cluster, &came).into_values() {
            *on_hosts.entry(node).or_insert(0) += cpu;
            *in_queues.entry(queue).or_insert(0) += cpu;
        }
        for (number, cpu) in hosts.iter().enumerate() {
            let used = on_hosts.get(&format!("h{number}")).copied().unwrap_or_default();
            prop_assert!(used <= cpu * 1000, "h{number} holds {used}: {came:?}");
        }
        for (number, (cap, ..)) in queues.iter().enumerate() {
            let held = in_queues.get(&format!("q{number}")).copied().unwrap_or_default();
            prop_assert!(held <= cap * 1000, "q{number} holds {held}: {came:?}");
        }
    }

    #[test]
    fn what_is_guaranteed_is_never_reclaimed(
        hosts in proptest::collection::vec(2..9i64, 1..5), queues in queues(), jobs in jobs(),
    ) {
        let (cluster, held) = cluster(&hosts, &queues, &jobs);
        let came = run(&cluster, &["enqueue", "allocate", "backfill", "reclaim"]);
        let mut left: BTreeMap<String, i64> = BTreeMap::new();
        for (_, cpu, queue) in after(&cluster, &came).into_values() {
            *left.entry(queue).or_default() += cpu;
        }
        for (number, (_, _, guarantee)) in queues.iter().enumerate() {
            let now = left.get(&format!("q{number}")).copied().unwrap_or_default();
            let kept = guarantee.min(&held[number]) * 1000;
            prop_assert!(now >= kept, "q{number} is left {now} of {kept}: {came:?}");
        }
    }

    #[test]
    fn the_same_state_gives_the_same_decision(
        hosts in proptest::collection::vec(2..9i64, 1..5), queues in queues(), jobs in jobs(),
    ) {
        let (cluster, _) = cluster(&hosts, &queues, &jobs);
        let came = run(&cluster, &ALL);
        let mut turned = cluster.clone();
        for list in ["jobs", "nodes", "queues"] {
            turned[list].as_array_mut().unwrap().reverse();
        }
        for other in [run(&cluster, &ALL), run(&turned, &ALL)] {
            prop_assert_eq!(&other.binds, &came.binds);
            prop_assert_eq!(&other.evicts, &came.evicts);
            prop_assert_eq!(&other.pipelined, &came.pipelined);
        }
    }
}

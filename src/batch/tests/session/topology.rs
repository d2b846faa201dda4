//! What holds of any cluster with topology domains: a job with a hard topology
//! stays in one domain, gangs come and go whole, and sub-groups have their
//! minima.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_batch::scenario::{BatchScenario, Outcome};
use stowplan_config::Settings;

const GIB: i64 = 1 << 30;
/// Hosts of a rack, racks of a zone.
const RACK: usize = 2;
const ZONE: usize = 4;

/// A job to be made.
#[derive(Clone, Debug)]
struct Plan {
    queue: usize,
    class: usize,
    tasks: usize,
    cpu: i64,
    min: usize,
    /// 0: none, 1: rack, 2: zone, 3: soft.
    topology: usize,
    /// How many tasks a sub-group has; none: there are no sub-groups.
    part: Option<usize>,
    /// Whether sub-groups have to be in one rack each.
    near: bool,
    /// How many of its tasks run: none, or at least what it needs.
    running: usize,
    /// Whether its last task asks for nothing.
    idle: bool,
}

fn jobs() -> impl Strategy<Value = Vec<Plan>> {
    let size = (1..9usize, 1..4i64, 0..9usize);
    let kind = (0..2usize, 0..3usize, 0..4usize);
    let parts = (proptest::option::of(1..4usize), any::<bool>(), any::<bool>());
    let runs = (any::<bool>(), 0..4usize);
    let job = (size, kind, parts, runs).prop_map(|(size, kind, parts, runs)| {
        let ((tasks, cpu, min), (queue, class, topology)) = (size, kind);
        let ((part, near, idle), (runs, waiting)) = (parts, runs);
        let tasks = part.map_or(tasks, |part| tasks.div_ceil(part) * part);
        let (min, idle) = (min.min(tasks), idle && part.is_none());
        // Sub-groups run whole or not at all.
        let unit = part.unwrap_or(1);
        let needed = min.div_ceil(unit).max(1) * unit;
        let running = if runs { tasks.saturating_sub(waiting * unit).max(needed) } else { 0 };
        Plan { queue, class, tasks, cpu, min, topology, part, near, running, idle }
    });
    proptest::collection::vec(job, 1..8)
}

fn rack(host: usize) -> usize {
    host / RACK
}

fn zone(host: usize) -> usize {
    host / ZONE
}

impl Plan {
    /// The domain that all its tasks have to share with one on this host.
    fn domain(&self, host: usize) -> usize {
        match self.topology {
            1 => rack(host),
            2 => zone(host),
            _ => 0,
        }
    }

    /// Hosts for the tasks that run where nothing else has to leave, if there
    /// are any.
    fn places(&self, free: &[i64]) -> Option<Vec<usize>> {
        let starts: BTreeSet<usize> = (0..free.len()).map(|host| self.domain(host)).collect();
        starts.into_iter().find_map(|domain| {
            let mut left = free.to_vec();
            let mut places: Vec<usize> = Vec::new();
            let mut home = None;
            for task in 0..self.running {
                let starts_part = self.part.is_some_and(|part| task % part == 0);
                home = home.filter(|_| !starts_part && self.part.is_some() && self.near);
                let fits = |host: &usize| {
                    self.domain(*host) == domain
                        && left[*host] >= self.cpu
                        && home.is_none_or(|home| home == rack(*host))
                };
                let host = (0..left.len()).find(fits)?;
                left[host] -= self.cpu;
                home = Some(rack(host));
                places.push(host);
            }
            Some(places)
        })
    }
}

fn cluster(hosts: &[i64], jobs: &[Plan]) -> Value {
    let mut free = hosts.to_vec();
    let mut made = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let places = if job.running > 0 { job.places(&free) } else { None };
        for host in places.iter().flatten() {
            free[*host] -= job.cpu;
        }
        let task = |index: usize| {
            let place = places.as_ref().and_then(|places| places.get(index));
            let host = place.map(|place| format!("h{place}"));
            let idle = job.idle && index + 1 == job.tasks && host.is_none();
            let requests = json!({"cpu": job.cpu * 1000, "memory": GIB});
            let part = job.part.map_or(0, |part| index / part);
            json!({
                "name": format!("j{number}-w-{index}"), "namespace": "p", "role": "w",
                "phase": if host.is_some() { "Running" } else { "Pending" },
                "node": host.unwrap_or_default(), "labels": {"part": part.to_string()},
                "requests": if idle { json!({}) } else { requests },
            })
        };
        let topology = [
            Value::Null,
            json!({"mode": "hard", "highestTierAllowed": 1}),
            json!({"mode": "hard", "highestTierAllowed": 2}),
            json!({"mode": "soft"}),
        ];
        let policies = job.part.map(|part| {
            let near = json!({"mode": "hard", "highestTierAllowed": 1});
            json!({
                "name": "part", "subGroupSize": part, "minSubGroups": job.min.div_ceil(part),
                "matchLabelKeys": ["part"],
                "networkTopology": if job.near { near } else { Value::Null },
            })
        });
        let class = ["low", "mid", "high"][job.class];
        made.push(json!({
            "name": format!("j{number}"), "namespace": "p", "queue": format!("q{}", job.queue),
            "min_member": job.min, "priority_class": class,
            "phase": if places.is_some() { "Running" } else { "Pending" },
            "network_topology": topology[job.topology],
            "sub_group_policy": policies.into_iter().collect::<Vec<_>>(),
            "tasks": (0..job.tasks).map(task).collect::<Vec<_>>(),
        }));
    }
    let node = |(number, cpu): (usize, &i64)| {
        json!({
            "name": format!("h{number}"),
            "allocatable": {"cpu": cpu * 1000, "memory": 64 * GIB, "pods": 20},
        })
    };
    let name = |host: usize| format!("h{host}");
    let inside = |of: fn(usize) -> usize, domain: usize| -> Vec<String> {
        (0..hosts.len()).filter(|host| of(*host) == domain).map(name).collect()
    };
    let racks = (0..=rack(hosts.len() - 1))
        .map(|at| json!({"name": format!("r{at}"), "tier": 1, "nodes": inside(rack, at)}));
    let zones = (0..=zone(hosts.len() - 1)).map(|at| {
        let racks: BTreeSet<usize> =
            (0..hosts.len()).filter(|host| zone(*host) == at).map(rack).collect();
        let member = |rack: usize| {
            json!({"type": "hypernode", "match": "exact", "name": format!("r{rack}")})
        };
        let members: Vec<Value> = racks.into_iter().map(member).collect();
        json!({"name": format!("z{at}"), "tier": 2, "nodes": inside(zone, at), "members": members})
    });
    let half = hosts.iter().sum::<i64>() * 500;
    let queue =
        |name: &str| json!({"name": name, "deserved": {"cpu": half, "memory": 1_i64 << 42}});
    let classes = [("low", 1), ("mid", 10), ("high", 100)];
    json!({
        "name": "any", "nodes": hosts.iter().enumerate().map(node).collect::<Vec<_>>(),
        "queues": [queue("q0"), queue("q1")],
        "priority_classes": classes.map(|(name, value)| json!({"name": name, "value": value})),
        "hyper_nodes": racks.chain(zones).collect::<Vec<_>>(),
        "jobs": made,
    })
}

fn run(cluster: &Value, actions: &[&str]) -> Outcome {
    let mut cluster = cluster.clone();
    cluster["actions"] = json!(actions);
    let scenario: BatchScenario = serde_json::from_value(cluster).unwrap();
    scenario.evaluate(&Settings::default(), &[]).unwrap().first
}

const GANG: [&str; 5] = ["enqueue", "allocate", "backfill", "gangreclaim", "gangpreempt"];
const SINGLE: [&str; 5] = ["enqueue", "allocate", "backfill", "reclaim", "preempt"];

/// Where the tasks of a job are once all who have to leave have left: by number.
/// Without `promised`, only those that hold their room.
fn after(job: &Value, came: &Outcome, promised: bool) -> BTreeMap<usize, usize> {
    let mut places = BTreeMap::new();
    for (number, task) in job["tasks"].as_array().unwrap().iter().enumerate() {
        let id = format!("p/{}", task["name"].as_str().unwrap());
        let node = task["node"].as_str().filter(|node| !node.is_empty()).map(str::to_owned);
        let stays = node.filter(|_| !came.evicts.contains(&id));
        let comes = came.binds.get(&id).or(came.pipelined.get(&id).filter(|_| promised));
        if let Some(node) = stays.or(comes.cloned()) {
            places.insert(number, node[1..].parse().unwrap());
        }
    }
    places
}

/// `promised`: whether promises are looked at. preempt makes some to single
/// tasks that it finds room for without evictions; nobody hears of these.
fn check(
    plans: &[Plan],
    cluster: &Value,
    came: &Outcome,
    promised: bool,
) -> Result<(), TestCaseError> {
    for (plan, job) in plans.iter().zip(cluster["jobs"].as_array().unwrap()) {
        let name = &job["name"];
        let all = after(job, came, promised);
        let domains: BTreeSet<usize> = all.values().map(|host| plan.domain(*host)).collect();
        prop_assert!(domains.len() <= 1, "{name} is in {domains:?}: {all:?} {came:?}");
        let held = after(job, came, false);
        // A task that asks for nothing counts as placed while it waits, too.
        let waits = job["tasks"].as_array().unwrap().iter().enumerate();
        let idle = |places: &BTreeMap<usize, usize>| {
            let nothing = |(at, task): &(usize, &Value)| {
                task["requests"]["cpu"].is_null() && !places.contains_key(at)
            };
            waits.clone().filter(nothing).count()
        };
        for places in [&all, &held] {
            let left = places.len() + idle(places);
            let kept = places.is_empty() || left >= plan.min;
            prop_assert!(kept, "{name}: {left} of {}: {came:?}", plan.min);
        }
        let Some(part) = plan.part else { continue };
        for places in [&all, &held] {
            let mut parts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for (task, host) in places {
                parts.entry(task / part).or_default().insert(rack(*host));
                *counts.entry(task / part).or_default() += 1;
            }
            if plan.near {
                for (part, racks) in &parts {
                    prop_assert!(racks.len() == 1, "{name} part {part} in {racks:?}: {came:?}");
                }
            }
            let complete = counts.values().filter(|count| **count >= part).count();
            let needed = plan.min.div_ceil(part);
            prop_assert!(
                places.is_empty() || complete >= needed,
                "{name}: {complete} of {needed} sub-groups: {came:?}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn domains_gangs_and_sub_groups_are_kept(
        hosts in proptest::collection::vec(2..9i64, 2..9), jobs in jobs(),
    ) {
        let cluster = cluster(&hosts, &jobs);
        check(&jobs, &cluster, &run(&cluster, &GANG), true)?;
        check(&jobs, &cluster, &run(&cluster, &SINGLE), false)?;
    }

    #[test]
    fn nobody_takes_more_than_there_is(
        hosts in proptest::collection::vec(2..9i64, 2..9), jobs in jobs(),
    ) {
        let cluster = cluster(&hosts, &jobs);
        let came = run(&cluster, &GANG);
        let mut used = vec![0; hosts.len()];
        for (plan, job) in jobs.iter().zip(cluster["jobs"].as_array().unwrap()) {
            for (task, host) in after(job, &came, true) {
                let asks = job["tasks"][task]["requests"]["cpu"].is_i64();
                used[host] += if asks { plan.cpu } else { 0 };
            }
        }
        for (host, (used, has)) in used.iter().zip(&hosts).enumerate() {
            prop_assert!(used <= has, "h{host} gives {used} of {has}: {came:?}");
        }
    }

    #[test]
    fn the_order_of_what_is_declared_makes_no_difference(
        hosts in proptest::collection::vec(2..9i64, 2..9), jobs in jobs(),
    ) {
        let cluster = cluster(&hosts, &jobs);
        let mut turned = cluster.clone();
        for list in ["jobs", "nodes", "queues", "hyper_nodes"] {
            turned[list].as_array_mut().unwrap().reverse();
        }
        let (came, other) = (run(&cluster, &GANG), run(&turned, &GANG));
        prop_assert_eq!(&other.binds, &came.binds);
        prop_assert_eq!(other.evicts.iter().collect::<BTreeSet<_>>(), came.evicts.iter().collect());
        prop_assert_eq!(&other.pipelined, &came.pipelined);
    }
}

/// A cluster of hosts, each with its processors and its rack, and one job.
fn one(hosts: &[(i64, Option<&str>)], job: Value) -> Value {
    let node = |(number, (cpu, _)): (usize, &(i64, Option<&str>))| {
        json!({
            "name": format!("h{number}"),
            "allocatable": {"cpu": cpu * 1000, "memory": 64 * GIB, "pods": 20},
        })
    };
    let mut racks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (number, (_, rack)) in hosts.iter().enumerate() {
        racks.entry(rack.unwrap_or_default()).or_default().push(format!("h{number}"));
    }
    racks.remove("");
    let domain =
        |(name, nodes): (&str, Vec<String>)| json!({"name": name, "tier": 1, "nodes": nodes});
    json!({
        "name": "one", "nodes": hosts.iter().enumerate().map(node).collect::<Vec<_>>(),
        "queues": [{"name": "q"}], "hyper_nodes": racks.into_iter().map(domain).collect::<Vec<_>>(),
        "jobs": [job],
    })
}

/// A job of `parts`, each of tasks with their hosts (empty: they wait); all in
/// one rack. Tasks ask for `cpu` cores.
fn parted(parts: &[&[&str]], min: usize, cpu: i64) -> Value {
    let task = |(part, at, host): (usize, usize, &str)| {
        json!({
            "name": format!("j-w-{part}{at}"), "namespace": "p", "role": "w",
            "phase": if host.is_empty() { "Pending" } else { "Running" }, "node": host,
            "labels": {"part": part.to_string()},
            "requests": if cpu > 0 { json!({"cpu": cpu * 1000, "memory": GIB}) } else { json!({}) },
        })
    };
    let tasks = parts.iter().enumerate().flat_map(|(part, hosts)| {
        hosts.iter().enumerate().map(move |(at, host)| (part, at, *host))
    });
    json!({
        "name": "j", "namespace": "p", "queue": "q", "min_member": min, "phase": "Inqueue",
        "network_topology": {"mode": "hard", "highestTierAllowed": 1},
        "sub_group_policy": [{"name": "part", "subGroupSize": 1, "matchLabelKeys": ["part"],
            "minSubGroups": 1}],
        "tasks": tasks.map(task).collect::<Vec<_>>(),
    })
}

#[test]
fn what_comes_later_goes_where_the_job_is_already() {
    // One sub-group runs in rack a; only rack b has room for the other.
    let full = [(1, Some("a")), (4, Some("b"))];
    let came = run(&one(&full, parted(&[&["h0"], &[""]], 1, 1)), &["allocate"]);
    assert_eq!(came.binds, BTreeMap::new());
    let roomy = [(2, Some("a")), (4, Some("b"))];
    let came = run(&one(&roomy, parted(&[&["h0"], &[""]], 1, 1)), &["allocate"]);
    assert_eq!(came.binds, [("p/j-w-10".to_owned(), "h0".to_owned())].into());
}

#[test]
fn tasks_that_ask_for_nothing_stay_in_allowed_domains() {
    let waiting: &[&str] = &["", ""];
    // The first host by name is in no domain, and the top is too wide.
    let cluster = one(&[(4, None), (4, Some("a")), (4, Some("b"))], parted(&[waiting], 1, 0));
    let came = run(&cluster, &["allocate", "backfill"]);
    let hosts: BTreeSet<&String> = came.binds.values().collect();
    assert_eq!((came.binds.len(), hosts.len()), (2, 1), "{came:?}");
    assert!(!hosts.contains(&"h0".to_owned()), "{came:?}");
    // Nothing is allowed: nothing is placed.
    let mut cluster = one(&[(4, None), (4, Some("a"))], parted(&[waiting], 1, 0));
    cluster["nodes"][1]["unschedulable"] = json!(true);
    let came = run(&cluster, &["allocate", "backfill"]);
    assert_eq!(came.binds, BTreeMap::new());
}

#[test]
fn hints_tell_of_the_place_that_was_taken() {
    // Both racks are tried; the first is taken, where the preferred host is.
    let hosts = [(2, Some("a")), (2, Some("a")), (2, Some("b")), (2, Some("b"))];
    let mut job = parted(&[&[""], &[""]], 2, 1);
    job["hint"] = json!({"preferredNodeNames": ["h1"]});
    let came = run(&one(&hosts, job), &["allocate"]);
    let at = |host: &str| came.binds.values().filter(|at| *at == host).count();
    assert_eq!(at("h1"), 2, "{came:?}");
    let told: BTreeSet<&str> = came.hints.values().map(|hint| hint.as_str()).collect();
    assert_eq!(told, ["used"].into(), "{came:?}");
}

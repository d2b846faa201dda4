//! Jobs and their tasks.

use super::{Exported, seconds};
use crate::session::{BUDGET_KEYS, Budget, JobIx, Spread, Status, TaskIx, TaskTerm, Wishes};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use stowplan_engine::HostView;
use stowplan_engine::hint::{DEPRECATED_KEY, KEY};

impl Exported<'_> {
    /// Priority classes, one for each priority, and the jobs.
    pub(super) fn jobs(&self) -> (Vec<Value>, Vec<Value>) {
        let jobs: Vec<JobIx> = self.state.jobs().collect();
        let mut classes = BTreeMap::new();
        for job in &jobs {
            let value = self.state[*job].priority;
            classes.insert(value, json!({"name": class(value), "value": value}));
        }
        (classes.into_values().collect(), jobs.into_iter().map(|job| self.job(job)).collect())
    }

    fn job(&self, job: JobIx) -> Value {
        let at = &self.state[job];
        let (namespace, name) = at.name.split_once('/').unwrap_or(("", &at.name));
        let minima: Map<String, Value> = at
            .roles
            .iter()
            .filter_map(|role| Some((role.name.clone(), json!(role.min?))))
            .collect();
        let mut annotations = without_hints(&at.annotations);
        if let Some(budget) = at.budget {
            annotations.retain(|key, _| !BUDGET_KEYS.contains(&key.as_str()));
            let (key, count) = match budget {
                Budget::MinAvailable(count) => (BUDGET_KEYS[0], count),
                Budget::MaxUnavailable(count) => (BUDGET_KEYS[1], count),
            };
            annotations.insert(key.to_owned(), count.to_string());
        }
        json!({
            "name": name,
            "namespace": namespace,
            "created": seconds(at.created),
            "queue": self.state[at.queue].name,
            "min_member": at.min_available,
            "min_task_member": minima,
            "phase": at.phase.as_str(),
            "min_resources": at.min_resources.as_ref().map(|least| self.amounts(least)),
            "priority_class": class(at.priority),
            "annotations": annotations,
            "tasks": at.tasks.iter().map(|task| self.task(*task)).collect::<Vec<_>>(),
        })
    }

    fn task(&self, task: TaskIx) -> Value {
        let state = self.state;
        let (at, shape) = (&state[task], state.shape_of(task));
        let job = &state[at.job];
        let (namespace, name) = job.name.split_once('/').unwrap_or(("", &job.name));
        let role = job.roles.get(at.role as usize).map_or("", |role| role.name.as_str());
        let node = at.host.map(|host| state.world.facts(host).node.as_str());
        let is_nominated = at.status == Status::Pipelined;
        let phase = match at.status {
            Status::Running | Status::Releasing => "Running",
            Status::Succeeded => "Succeeded",
            Status::Failed => "Failed",
            Status::Unknown => "Unknown",
            Status::Pending
            | Status::Bound
            | Status::Allocated
            | Status::Pipelined
            | Status::Binding => "Pending",
        };
        let mut told = json!({
            "name": format!("{name}-{role}-{}", at.number.unwrap_or_default()),
            "namespace": namespace,
            "created": seconds(at.created),
            "phase": phase,
            "node": node.filter(|_| !is_nominated).unwrap_or_default(),
            "deleting": at.status == Status::Releasing,
            "requests": self.amounts(&shape.request),
            "role": role,
            "priority": at.priority,
            "preemptable": at.preemptable,
            "preemption_policy": if at.may_preempt { "PreemptLowerPriority" } else { "Never" },
            "annotations": without_hints(&at.notes),
            "started": at.started.map(seconds),
            "node_selector": *shape.node_selector,
            "tolerations": *shape.tolerations,
            "hint": shape.hint.as_deref(),
            "nominated_node": node.filter(|_| is_nominated),
        });
        if let (Some(wishes), Value::Object(told)) = (&shape.wishes, &mut told) {
            told.extend(written(wishes));
        }
        told
    }
}

/// Annotations without hints: those are of tasks, and may have been changed
/// since.
fn without_hints(annotations: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut kept = annotations.clone();
    kept.retain(|key, _| ![KEY, DEPRECATED_KEY].contains(&key.as_str()));
    kept
}

/// The class of a priority.
fn class(priority: i64) -> String {
    format!("priority {priority}")
}

/// What a task asks besides.
fn written(wishes: &Wishes) -> [(String, Value); 4] {
    let node =
        wishes.node_preferred.iter().map(|(weight, term)| json!({"weight": weight, "match": term}));
    let affinity = json!({
        "node_required": wishes.node_required,
        "node_preferred": node.collect::<Vec<_>>(),
        "task_affinity_required": terms(&wishes.near),
        "task_anti_affinity_required": terms(&wishes.apart),
        "task_affinity_preferred": weighed(&wishes.near_preferred),
        "task_anti_affinity_preferred": weighed(&wishes.apart_preferred),
    });
    let ports = wishes.ports.iter().map(|it| json!({"port": it.port, "protocol": it.protocol}));
    [
        ("labels".to_owned(), json!(wishes.labels)),
        ("affinity".to_owned(), affinity),
        ("topology_spread".to_owned(), wishes.spread.iter().map(spread).collect()),
        ("ports".to_owned(), ports.collect()),
    ]
}

fn terms(terms: &[TaskTerm]) -> Value {
    terms
        .iter()
        .map(|it| json!({"selector": it.selector, "topology_key": it.topology_key}))
        .collect()
}

fn weighed(terms: &[(i64, TaskTerm)]) -> Value {
    let one = |(weight, it): &(i64, TaskTerm)| json!({"weight": weight, "selector": it.selector, "topology_key": it.topology_key});
    terms.iter().map(one).collect()
}

fn spread(spread: &Spread) -> Value {
    json!({
        "max_skew": spread.max_skew,
        "topology_key": spread.topology_key,
        "when_unsatisfiable": if spread.hard { "DoNotSchedule" } else { "ScheduleAnyway" },
        "selector": spread.selector,
    })
}

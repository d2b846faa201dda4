//! What extenders are told and what they answer, in the peer's words: the names
//! of its types' fields, as far as there is something to put into them.

use crate::amounts::{Amounts, DimIx, Quantity};
use crate::session::{JobIx, QueueIx, State, Status, TaskIx, Vote};
use crate::world::{Kind, World};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use stowplan_engine::{HostIx, HostView};

/// An answer about one host; an empty status means yes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PredicateAnswer {
    pub(super) status: String,
    pub(super) code: i64,
}

/// The code of a host that may be taken once others have left it.
pub(super) const UNSCHEDULABLE: i64 = 2;

/// Scores by name of the host.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PrioritizeAnswer {
    pub(super) node_score: Option<BTreeMap<String, f64>>,
    pub(super) error_message: String,
}

/// Who may leave.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct VictimsAnswer {
    pub(super) status: i64,
    pub(super) victims: Option<Vec<Named>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    #[serde(rename = "UID")]
    pub(super) uid: String,
}

/// A vote: 1, 0 or -1.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct VoteAnswer {
    pub(super) status: i64,
}

impl VoteAnswer {
    pub(super) const fn vote(&self) -> Vote {
        match self.status {
            0 => Vote::Abstain,
            1.. => Vote::Permit,
            _ => Vote::Reject,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OverusedAnswer {
    pub(super) overused: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReadyAnswer {
    pub(super) status: bool,
}

/// Amounts: cpu in thousandths, memory in bytes, all else in thousandths, too,
/// but places for tasks, which are whole.
fn resource(world: &World, amount: impl Fn(DimIx) -> Option<i64>) -> Value {
    let dims = world.dims();
    let in_units = |dim: DimIx, unit: Quantity| {
        let value = amount(dim).unwrap_or_default() as f64;
        value * dims.quantum(dim).quanta(unit) as f64
    };
    let mut scalars = Map::new();
    for (dim, at) in dims.iter().filter(|(dim, _)| dim.index() > DimIx::MEMORY.index()) {
        if amount(dim).is_some() {
            let whole = dim == DimIx::PODS;
            let unit = if whole { Quantity::units(1) } else { Quantity::milli(1) };
            scalars.insert(at.name.clone(), json!(in_units(dim, unit)));
        }
    }
    json!({
        "MilliCPU": in_units(DimIx::CPU, Quantity::milli(1)),
        "Memory": in_units(DimIx::MEMORY, Quantity::units(1)),
        "ScalarResources": scalars,
    })
}

fn amounts(world: &World, amounts: &Amounts) -> Value {
    resource(world, |dim| amounts.has(dim).then(|| amounts.get(dim)))
}

/// A host.
pub(super) fn node(world: &World, host: HostIx) -> Value {
    let facts = world.facts(host);
    let of = |kind| resource(world, move |dim| Some(world.amount(kind, dim, host)));
    json!({
        "Name": facts.node,
        "Node": {"metadata": {"name": facts.node, "uid": facts.uuid, "labels": facts.labels}},
        "Allocatable": of(Kind::Allocatable),
        "Used": of(Kind::Used),
        "Releasing": of(Kind::Releasing),
        "Pipelined": of(Kind::Pipelined),
        "Idle": resource(world, |dim| Some(world.idle(dim, host))),
    })
}

/// A task.
pub(super) fn task(state: &State, task: TaskIx) -> Value {
    let at = &state[task];
    let job = &state[at.job];
    let request = amounts(&state.world, &state.shape_of(task).request);
    let role = job.roles.get(at.role as usize).map_or("", |role| role.name.as_str());
    json!({
        "UID": at.uuid,
        "Job": job.uuid,
        "Name": at.name,
        "Namespace": job.namespace(),
        "TaskRole": role,
        "Resreq": request,
        "InitResreq": request,
        "NodeName": at.host.map(|host| state.world.facts(host).node.as_str()).unwrap_or_default(),
        "Status": status(at.status),
        "Priority": at.priority,
        "Preemptable": at.preemptable,
        "BestEffort": state.shape_of(task).is_best_effort(),
        "Pod": {"metadata": {
            "name": at.name,
            "namespace": job.namespace(),
            "uid": at.uuid,
            "annotations": *at.notes,
        }},
    })
}

/// The peer's numbers of states.
const fn status(status: Status) -> u32 {
    let place = match status {
        Status::Pending => 0,
        Status::Allocated => 1,
        Status::Pipelined => 2,
        Status::Binding => 3,
        Status::Bound => 4,
        Status::Running => 5,
        Status::Releasing => 6,
        Status::Succeeded => 7,
        Status::Failed => 8,
        Status::Unknown => 9,
    };
    1 << place
}

/// A job, without its tasks.
pub(super) fn job(state: &State, job: JobIx) -> Value {
    let at = &state[job];
    let least = at.min_resources.as_ref().map(|least| amounts(&state.world, least));
    let name = at.name.split_once('/').map_or(at.name.as_str(), |(_, name)| name);
    json!({
        "UID": at.uuid,
        "Name": name,
        "Namespace": at.namespace(),
        "Queue": state[at.queue].name,
        "Priority": at.priority,
        "MinAvailable": at.min_available,
        "MinResources": least,
        "Allocated": amounts(&state.world, &at.allocated),
        "Annotations": *at.annotations,
    })
}

/// A queue.
pub(super) fn queue(state: &State, queue: QueueIx) -> Value {
    let at = &state[queue];
    json!({"UID": at.name, "Name": at.name, "Weight": at.weight})
}

/// All there is, when a session opens.
pub(super) fn cluster(state: &State) -> Value {
    let named = |entries: Vec<(String, Value)>| entries.into_iter().collect::<Map<_, _>>();
    let jobs = state.jobs().map(|it| (state[it].uuid.to_string(), job(state, it)));
    let hosts = state.world.order().iter();
    let nodes = hosts.map(|it| (state.world.facts(*it).node.clone(), node(&state.world, *it)));
    let queues = state.queues().map(|it| (state[it].name.clone(), queue(state, it)));
    json!({
        "Jobs": named(jobs.collect()),
        "Nodes": named(nodes.collect()),
        "Queues": named(queues.collect()),
    })
}

//! One task on the server: asked for, and released.

use super::{
    books::Place,
    cluster::{Cluster, GPU_MILLI, Part, model_trait},
    openb::Task,
};
use crate::http::Client;
use anyhow::{anyhow, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The name space of the tasks' uuids.
const NAMESPACE: Uuid = Uuid::from_u128(0x1f0e_7ad4_52c1_5f8e_8d3b_7c44_9ab2_60e5);

/// How a server answers for one task.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It is placed.
    Placed(Place),
    /// There is no valid host.
    Refused {
        /// The most telling reason.
        reason: String,
        /// The decision that explains it.
        decision: Option<Uuid>,
    },
}

/// The uuid of a task's server and consumer.
pub fn consumer(place: usize, task: &Task) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{place}/{}", task.name).as_bytes())
}

/// The request for a task. Each GPU is a request group of its own; groups keep
/// apart. A flavor cannot ask for one of several models, so the others of the
/// cluster are forbidden, which is the same: a GPU has one model.
pub fn request(consumer: Uuid, task: &Task, models: &BTreeSet<String>) -> Value {
    let mut specs = Map::new();
    for number in 1..=task.gpus {
        specs.insert(format!("resources{number}:{GPU_MILLI}"), task.gpu_milli.to_string().into());
        for model in models.iter().filter(|model| !task.accepts(model)) {
            specs.insert(format!("trait{number}:{}", model_trait(model)), "forbidden".into());
        }
    }
    if task.gpus > 1 {
        specs.insert("group_policy".to_owned(), "isolate".into());
    }
    json!({
        "instance_uuids": [consumer],
        "project_id": "replay",
        "user_id": "replay",
        "flavor": {
            "name": task.name,
            "vcpus": task.cpu_milli,
            "memory_mb": task.memory_mib,
            "extra_specs": specs,
        },
    })
}

#[derive(Deserialize)]
struct Destinations {
    selections: Vec<Selection>,
}

#[derive(Deserialize)]
struct Selection {
    allocation_request: AllocationRequest,
}

#[derive(Deserialize)]
struct AllocationRequest {
    allocations: BTreeMap<Uuid, Resources>,
}

#[derive(Deserialize)]
struct Resources {
    resources: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    decision_id: Option<Uuid>,
}

/// Asks for a task.
///
/// # Errors
/// When the server answers neither with a place nor that there is none.
pub fn ask(client: &Client, cluster: &Cluster, request: &Value) -> anyhow::Result<Answer> {
    let answer = client.post("/v1/select_destinations", request)?;
    if answer.status == 409 {
        let problem: Problem = answer.json()?;
        if problem.kind.ends_with("no-valid-host") {
            let reason = problem.reasons.into_iter().next().unwrap_or(problem.detail);
            return Ok(Answer::Refused { reason, decision: problem.decision_id });
        }
    }
    let destinations: Destinations = answer.demand()?.json()?;
    match destinations.selections.as_slice() {
        [selection] => Ok(Answer::Placed(place(cluster, &selection.allocation_request)?)),
        other => Err(anyhow!("asked for one server, was answered with {}", other.len())),
    }
}

/// What was claimed, in the terms of the books.
fn place(cluster: &Cluster, claimed: &AllocationRequest) -> anyhow::Result<Place> {
    let mut node = None;
    let (mut cpu_milli, mut memory_mib, mut gpus) = (0, 0, Vec::new());
    for (provider, Resources { resources }) in &claimed.allocations {
        let part = cluster.part(*provider)?;
        let (Part::Node(here) | Part::Gpu(here, _)) = part;
        if *node.get_or_insert(here) != here {
            bail!("a claim spans two nodes: {:?}", claimed.allocations.keys());
        }
        for (class, amount) in resources {
            match (part, class.as_str()) {
                (Part::Node(_), "VCPU") => cpu_milli += amount,
                (Part::Node(_), "MEMORY_MB") => memory_mib += amount,
                (Part::Gpu(_, number), GPU_MILLI) => gpus.push((number, *amount)),
                _ => bail!("{amount} of {class} were claimed of {part:?}, nobody asked for it"),
            }
        }
    }
    let node = node.ok_or_else(|| anyhow!("nothing was claimed"))?;
    Ok(Place { node, cpu_milli, memory_mib, gpus })
}

/// Releases a task.
///
/// # Errors
/// When the server does not do so.
pub fn release(client: &Client, consumer: Uuid) -> anyhow::Result<()> {
    client.delete(&format!("/allocations/{consumer}"))?.demand()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(gpus: usize, gpu_milli: i64, models: &[&str]) -> Task {
        Task {
            name: "t".to_owned(),
            cpu_milli: 1500,
            memory_mib: 7,
            gpus,
            gpu_milli,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            created: 0,
            deleted: None,
        }
    }

    fn specs(task: &Task) -> Value {
        let models = ["A10", "P100", "T4"].map(str::to_owned).into();
        request(Uuid::nil(), task, &models)["flavor"]["extra_specs"].clone()
    }

    #[test]
    fn gpus_become_request_groups() {
        assert_eq!(specs(&task(0, 0, &[])), json!({}));
        assert_eq!(specs(&task(1, 460, &[])), json!({"resources1:CUSTOM_GPU_MILLI": "460"}));
        assert_eq!(
            specs(&task(2, 1000, &["T4", "A10"])),
            json!({
                "resources1:CUSTOM_GPU_MILLI": "1000", "trait1:CUSTOM_GPU_P100": "forbidden",
                "resources2:CUSTOM_GPU_MILLI": "1000", "trait2:CUSTOM_GPU_P100": "forbidden",
                "group_policy": "isolate",
            })
        );
    }
}

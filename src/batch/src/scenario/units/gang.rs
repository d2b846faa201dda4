//! When a gang has its minimum, and when it only leaves.

use super::{Came, UnitCase};
use crate::amounts::{Amounts, DimIx, Dims};
use crate::plugins::{Outside, seat};
use crate::session::{
    Census, GroupIx, Job, Queue, QueueIx, Role, Shape, State, Status, Task, Tiers,
};
use crate::world::{Picks, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_engine::HostTable;
use stowplan_engine::config::EngineConfig;
use stowplan_model::{Micros, Uuid};

/// What the plugin gang says of one job.
pub(super) fn compute(case: &UnitCase, engine: &EngineConfig) -> Result<Came, String> {
    let dims = Dims::free([]).map_err(|fault| fault.to_string())?;
    let world = World::new(Arc::new(dims), HostTable::new(), Vec::new());
    let mut state = State::new(world, Micros(0));
    let queue: QueueIx = state.add_queue(Queue::named("default"));
    let least = case.field("min_available").as_u64().unwrap_or_default();
    let role = Role { name: String::new(), min: None, census: Census::default() };
    let job = state.add_job(Job {
        min_available: u32::try_from(least).map_err(|error| error.to_string())?,
        roles: vec![role],
        ..Job::named(Uuid::nil(), "recorded", queue)
    });
    for (number, (status, best_effort)) in tasks(case)?.into_iter().enumerate() {
        let mut request = Amounts::new();
        request.set(DimIx::CPU, i64::from(!best_effort));
        request.set(DimIx::PODS, 1);
        let shape = state.shape(Shape { request, ..Shape::default() });
        state.add_task(Task {
            uuid: Uuid::from_u128(number as u128),
            name: number.to_string(),
            job,
            role: 0,
            group: GroupIx(0),
            number: None,
            created: Micros(0),
            priority: 1,
            shape,
            status,
            attempt: 0,
            preemptable: true,
            may_preempt: true,
            protected: false,
            notes: Default::default(),
            cells: Vec::new(),
            started: None,
            host: None,
            picks: Picks::new(),
            nominated: None,
            hint: None,
        });
    }
    let gang = seat("gang", BTreeMap::new(), engine, &Outside::default(), &|_, _| Ok(true))
        .map_err(|f| f.to_string())?;
    let tiers = Tiers::new(vec![vec![gang]]);
    let at = &state[job];
    Ok(Came::from([
        ("ready".to_owned(), json!(tiers.job_ready(&state, job))),
        ("pipelined".to_owned(), json!(tiers.job_pipelined(&state, job))),
        ("skip_unschedulable_condition".to_owned(), json!(at.census.is_leaving(at.min_available))),
    ]))
}

/// The states of the tasks, and whether each asks for nothing.
fn tasks(case: &UnitCase) -> Result<Vec<(Status, bool)>, String> {
    let mut tasks = Vec::new();
    for (word, count) in case.field("task_counts_by_state").as_object().into_iter().flatten() {
        let (word, best_effort) = match word.split_once(':') {
            Some((word, "best_effort")) => (word, true),
            _ => (word.as_str(), false),
        };
        for _ in 0..count.as_u64().unwrap_or_default() {
            tasks.push((status(word)?, best_effort));
        }
    }
    for task in case.field("tasks").as_array().into_iter().flatten() {
        tasks.push((status(task["state"].as_str().unwrap_or_default())?, false));
    }
    Ok(tasks)
}

fn status(word: &str) -> Result<Status, String> {
    serde_json::from_value(Value::from(word)).map_err(|error| error.to_string())
}

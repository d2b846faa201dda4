//! Votes on victims, and the order in which they go.

use super::super::build::state;
use super::super::cluster::Cluster;
use super::super::tiers::{PluginInput, tiers};
use super::{Came, UnitCase};
use crate::session::{Disagreement, JobIx, State, TaskIx, elect};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;

/// What a plugin answers.
#[derive(Deserialize)]
struct Answer {
    victims: Vec<String>,
    /// 0: no opinion.
    vote: i64,
}

/// Whom plugins of several tiers agree on.
pub(super) fn vote(case: &UnitCase, _: &EngineConfig) -> Result<Came, String> {
    let mut tiers: Vec<Vec<Answer>> = read(case, "tiers")?;
    let candidates: Vec<String> = read(case, "candidates")?;
    let place = |name: &String| candidates.iter().position(|candidate| candidate == name);
    let places = elect(&mut tiers, Disagreement::Afresh, |answer| {
        (answer.vote != 0).then(|| answer.victims.iter().filter_map(place).collect())
    });
    let victims: Vec<&String> = places.into_iter().filter_map(|at| candidates.get(at)).collect();
    Ok(Came::from([("victims".to_owned(), json!(victims))]))
}

fn read<T: for<'de> Deserialize<'de>>(case: &UnitCase, field: &str) -> Result<T, String> {
    T::deserialize(case.field(field)).map_err(|error| format!("{field}: {error}"))
}

/// Which of the named victims goes first, and what plugins say of the order of
/// each two of their jobs.
pub(super) fn order(case: &UnitCase, engine: &EngineConfig) -> Result<Came, String> {
    let cluster: Cluster =
        serde_json::from_value(Value::Object(case.fields.clone())).map_err(|e| e.to_string())?;
    let plugins: Vec<Vec<PluginInput>> = read(case, "tiers")?;
    let names: Vec<String> = read(case, "victims")?;
    let state = state(&cluster, &Settings::default()).map_err(|fault| fault.to_string())?;
    let mut tiers = tiers(&plugins, &BTreeMap::new(), engine).map_err(|f| f.to_string())?;
    tiers.open(&state);
    let jobs: Vec<JobIx> = state.jobs().collect();
    let tasks: Vec<TaskIx> = jobs.iter().flat_map(|job| state[*job].tasks.clone()).collect();
    let named = |task: &TaskIx| names.contains(&state[*task].name);
    let mut victims: Vec<TaskIx> = tasks.into_iter().filter(named).collect();
    // Whoever else waits is the preemptor; its job may be gone.
    let waits = |job: &JobIx| !victims.iter().any(|task| state[*task].job == *job);
    let preemptor = jobs.iter().copied().find(waits);
    tiers.sort_victims(&state, preemptor, &mut victims);
    let first = victims.first().map(|task| &state[*task].name);
    let mut came = Came::from([("first_victim".to_owned(), json!(first))]);
    for &left in &jobs {
        for &right in &jobs {
            let compared = match tiers.job_preference(&state, left, right) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            };
            let what =
                format!("job_order_compare({}, {})", bare(&state, left), bare(&state, right));
            came.insert(what, json!(compared));
        }
    }
    Ok(came)
}

/// The name of a job without its namespace.
fn bare(state: &State, job: JobIx) -> &str {
    let name = &state[job].name;
    name.split_once('/').map_or(name.as_str(), |(_, name)| name)
}

//! What plugins say of a cluster as it is.

use super::BatchFailure;
use crate::session::{HostVerdict, JobIx, Session, State, TaskIx, scores};
use std::collections::BTreeMap;
use stowplan_engine::{HostIx, HostView};

/// By task, then by node.
pub(super) type ByNode<T> = BTreeMap<String, BTreeMap<String, T>>;

/// The answers.
#[derive(Default)]
pub(super) struct Probed {
    /// The score of every task on every node.
    pub(super) scores: ByNode<f64>,
    /// What predicates say of every task on every node.
    pub(super) statuses: ByNode<&'static str>,
    /// Whether each job would be admitted as things stand.
    pub(super) enqueueable: BTreeMap<String, bool>,
}

/// Asks for everything.
pub(super) fn ask(session: &mut Session<'_>) -> Result<Probed, BatchFailure> {
    let mut probed = Probed::default();
    let hosts = session.state.world.order().to_vec();
    let jobs: Vec<JobIx> = session.state.jobs().collect();
    let state = &session.state;
    let tasks: Vec<TaskIx> = jobs.iter().flat_map(|job| state[*job].tasks.clone()).collect();
    for task in tasks {
        let state = &session.state;
        let id = state[task].name.clone();
        let all = scores(state, &session.tiers, task, &hosts);
        let by_node = hosts.iter().zip(all).map(|(host, score)| (name(state, *host), score));
        probed.scores.insert(id.clone(), by_node.collect());
        let mut statuses = BTreeMap::new();
        for &host in &hosts {
            let verdict = session.verdict_of(task, host).map_err(BatchFailure::Judge)?;
            statuses.insert(name(&session.state, host), word(verdict));
        }
        probed.statuses.insert(id, statuses);
    }
    for job in jobs {
        let admitted = session.tiers.job_enqueueable(&session.state, job);
        probed.enqueueable.insert(session.state[job].name.clone(), admitted);
    }
    Ok(probed)
}

fn name(state: &State, host: HostIx) -> String {
    state.world.facts(host).node.clone()
}

const fn word(verdict: HostVerdict) -> &'static str {
    match verdict {
        HostVerdict::Passes => "Success",
        HostVerdict::Unschedulable => "Unschedulable",
        HostVerdict::Unresolvable => "UnschedulableAndUnresolvable",
    }
}

//! What came of a cycle.

use super::cluster::Cluster;
use super::probe::{ByNode, Probed};
use crate::life::JobPhase;
use crate::session::{Commits, JobIx, Plan, Session, Status};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_engine::HostView;
use stowplan_engine::hint::HintOutcome;
use stowplan_model::Uuid;

/// Keeps what statements say; they stay under way.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    plans: Vec<Plan>,
}

impl Commits for Recorder {
    fn submit(&mut self, plan: Plan) {
        self.plans.push(plan);
    }

    fn outcome(&mut self, _wait: bool) -> Option<crate::session::Outcome> {
        None
    }
}

/// All that can be compared, by the ids of jobs and tasks.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// Tasks that were bound, with their nodes.
    pub binds: BTreeMap<String, String>,
    /// Tasks that were evicted, in order.
    pub evicts: Vec<String>,
    /// Tasks that were promised room, with their nodes.
    pub pipelined: BTreeMap<String, String>,
    /// The phase of each job.
    pub phases: BTreeMap<String, JobPhase>,
    /// How many tasks of each job are in which state.
    pub task_status_counts: BTreeMap<String, BTreeMap<Status, u32>>,
    /// What each job holds, by dimension.
    pub job_allocated: BTreeMap<String, BTreeMap<String, i64>>,
    /// Which tasks each job has.
    #[serde(skip)]
    pub(super) tasks: BTreeMap<String, Vec<String>>,
    /// The largest request of each job, by dimension: the slack of a tie.
    #[serde(skip)]
    pub(super) slack: BTreeMap<String, BTreeMap<String, i64>>,
    /// What became of the hints of tasks for which a host was looked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hints: BTreeMap<String, HintOutcome>,
    /// Scores, of a cycle without actions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: ByNode<f64>,
    /// What predicates say, likewise.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub predicate_status: ByNode<&'static str>,
    /// Whether jobs would be admitted, likewise.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub enqueueable: BTreeMap<String, bool>,
    /// The narrowest domain of each node.
    #[serde(skip)]
    domains: BTreeMap<String, String>,
    #[serde(skip)]
    names: BTreeMap<Uuid, String>,
    #[serde(skip)]
    nodes: BTreeMap<Uuid, String>,
}

impl Outcome {
    /// As things stand before what is not committed is undone.
    pub(super) fn of(session: &Session<'_>) -> Self {
        let state = &session.state;
        let mut outcome = Self::default();
        for &host in state.world.order() {
            let facts = state.world.facts(host);
            outcome.nodes.insert(facts.uuid, facts.node.clone());
            let domain = state.domains.get(state.domains.narrowest(host));
            outcome.domains.insert(facts.node.clone(), domain.name.clone());
        }
        for job in state.jobs() {
            outcome.job(session, job);
        }
        outcome
    }

    fn job(&mut self, session: &Session<'_>, job: JobIx) {
        let state = &session.state;
        let (at, dims) = (&state[job], state.world.dims());
        let id = at.name.clone();
        let mut counts: BTreeMap<Status, u32> = BTreeMap::new();
        let mut slack: BTreeMap<String, i64> = BTreeMap::new();
        for &task in &at.tasks {
            let task = &state[task];
            self.names.insert(task.uuid, task.name.clone());
            self.tasks.entry(id.clone()).or_default().push(task.name.clone());
            self.hints.extend(task.hint.map(|hint| (task.name.clone(), hint)));
            *counts.entry(task.status).or_default() += 1;
            for (dim, amount) in state[task.shape].request.iter() {
                let most = slack.entry(dims.name(dim).to_owned()).or_default();
                *most = amount.max(*most);
            }
            if let (Status::Pipelined, Some(host)) = (task.status, task.host) {
                self.pipelined.insert(task.name.clone(), state.world.facts(host).node.clone());
            }
        }
        let held = at.allocated.iter().map(|(dim, held)| (dims.name(dim).to_owned(), held));
        self.job_allocated.insert(id.clone(), held.collect());
        self.slack.insert(id.clone(), slack);
        self.phases.insert(id.clone(), session.peer_phase(job));
        self.task_status_counts.insert(id, counts);
    }

    pub(super) fn add(&mut self, recorder: Recorder, probed: Probed) {
        let named =
            |names: &BTreeMap<Uuid, String>, id: &Uuid| names.get(id).cloned().unwrap_or_default();
        for plan in recorder.plans {
            for bind in plan.binds {
                let node = named(&self.nodes, &bind.host);
                self.binds.insert(named(&self.names, &bind.task), node);
            }
            self.evicts.extend(plan.evicts.iter().map(|evict| named(&self.names, &evict.task)));
        }
        self.scores = probed.scores;
        self.predicate_status = probed.statuses;
        self.enqueueable = probed.enqueueable;
    }

    /// How many tasks were bound in each of the narrowest domains, the fewest
    /// first.
    pub(super) fn binds_by_domain(&self) -> Vec<usize> {
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for domain in self.binds.values().filter_map(|node| self.domains.get(node)) {
            *counts.entry(domain).or_default() += 1;
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable();
        counts
    }

    /// The cluster that the next cycle begins with.
    pub(super) fn after(&self, before: &Cluster) -> Cluster {
        let mut cluster = before.clone();
        let evicted: BTreeSet<&String> = self.evicts.iter().collect();
        for job in &mut cluster.jobs {
            if let Some(phase) = self.phases.get(&job.id()) {
                job.phase = phase.as_str().to_owned();
            }
            for task in &mut job.tasks {
                let id = task.id();
                if let Some(node) = self.binds.get(&id) {
                    task.node.clone_from(node);
                }
                task.deleting |= evicted.contains(&id);
            }
        }
        cluster
    }
}

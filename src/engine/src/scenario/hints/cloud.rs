//! Hosts of which only their amounts are known, and a task that takes some.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde_json::json;
use stowplan_config::Settings;

use super::HintFailure;
use crate::engine::{Ask, Engine};
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::hint::{Guide, Hint, HintOutcome};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::{CheckedRequest, RequestCx};
use crate::scenario::{ScenarioHost, complete, new_year};
use crate::table::{HostIx, HostTable};
use crate::view::HostView;

/// A host.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Node {
    name: String,
    /// What tasks may take by resource: thousandths of CPUs, bytes of memory,
    /// pieces of all else.
    #[serde(default)]
    allocatable: BTreeMap<String, i64>,
}

impl Node {
    /// A host of that name that has nothing.
    pub fn named(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// The host as weighers see it.
    fn host(&self) -> serde_json::Result<ScenarioHost> {
        let amount = |resource: &str| self.allocatable.get(resource).copied().unwrap_or_default();
        serde_json::from_value(json!({
            "host": self.name, "node": self.name, "vcpus_total": amount("cpu") / 1000,
            "free_ram_mb": amount("memory") >> 20, "total_usable_ram_mb": amount("memory") >> 20,
        }))
    }
}

/// A task.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Task {
    #[serde(default)]
    requests: BTreeMap<String, i64>,
}

/// Hosts, a task and an engine that looks whether it fits.
pub(super) struct Cloud {
    engine: Engine,
    names: Vec<String>,
    table: HostTable,
}

/// Where a task may go.
pub(super) struct Answer {
    /// Hosts, the best first.
    pub candidates: Vec<String>,
    /// Hosts whose filters ran, in order.
    pub filtered: Vec<String>,
    pub hint: HintOutcome,
}

impl Cloud {
    /// Hosts, weighed as the settings say.
    pub fn new(nodes: Vec<Node>, mut task: Task, settings: &Settings) -> Result<Self, HintFailure> {
        let mut table = HostTable::new();
        for (n, node) in nodes.iter().enumerate() {
            table.upsert(HostIx(n as u32), node.host()?.row(new_year()));
        }
        let names = nodes.iter().map(|node| node.name.clone()).collect();
        // A task is a pod, on hosts that count them.
        task.requests.entry(PODS.to_owned()).or_insert(1);
        let fit = Fit { nodes: Arc::new(nodes), task };
        let engine = Engine::new(settings)?.filtering_by(vec![Box::new(fit)]);
        Ok(Self { engine, names, table })
    }

    /// Looks for a host.
    pub fn schedule(&self, hint: &Hint) -> Result<Answer, HintFailure> {
        let request = CheckedRequest::check(complete(&serde_json::Map::new())?)?;
        let hosts: Vec<HostIx> = (0..self.names.len() as u32).map(HostIx).collect();
        let ask = Ask {
            view: &self.table,
            request: &request,
            now: new_year(),
            index: 0,
            hosts: &hosts,
            offers: &Offers::default(),
        };
        let evaluation = self.engine.evaluate_hinted(&ask, Some(Guide::of(hint)))?;
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let chosen = self.engine.choose(&evaluation, &mut rng).into_hosts();
        let name = |host: &HostIx| self.names[host.index()].clone();
        let trace = evaluation.hint.as_ref();
        let mut filtered: Vec<String> = trace
            .into_iter()
            .flat_map(|trace| trace.tried.iter().map(|tried| tried.loser.host.clone()))
            .collect();
        for host in evaluation.preselection.hosts.iter().map(name) {
            if !filtered.contains(&host) {
                filtered.push(host);
            }
        }
        Ok(Answer {
            candidates: chosen.iter().map(name).collect(),
            filtered,
            hint: trace.map_or(HintOutcome::NothingPreferred, |trace| trace.outcome),
        })
    }
}

/// The resource of which each task takes one, on hosts that have it at all.
const PODS: &str = "pods";

/// Whether a host has what the task asks for.
#[derive(Clone)]
struct Fit {
    nodes: Arc<Vec<Node>>,
    task: Task,
}

impl Filter for Fit {
    fn name(&self) -> &'static str {
        "Fit"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: false, on_rebuild: true }
    }

    fn prepare(&self, _: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        Ok(Some(Box::new(self.clone())))
    }
}

impl Predicate for Fit {
    fn judge(
        &self,
        _: &dyn HostView,
        host: HostIx,
        _: &Offers,
        _: &Survivors,
    ) -> Result<Verdict, Fault> {
        let node = &self.nodes[host.index()];
        let short = self.task.requests.iter().find_map(|(resource, wanted)| {
            let has = node.allocatable.get(resource).copied();
            let free = if resource == PODS { has.unwrap_or(*wanted) } else { has.unwrap_or(0) };
            (*wanted > free).then(|| Reason::AmountShort {
                resource: resource.clone(),
                wanted: *wanted,
                free,
            })
        });
        Ok(short.map_or(Verdict::Pass, Verdict::Fail))
    }
}

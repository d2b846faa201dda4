//! A task as a scenario writes it.

use super::amounts::AmountsInput;
use crate::session::{HostPort, NodeTerm, Selector, Spread, Status, TaskTerm, Toleration, Wishes};
use serde::Deserialize;
use std::collections::BTreeMap;
use stowplan_engine::Hint;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskInput {
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: String,
    /// Seconds since the epoch.
    #[serde(default)]
    pub(super) created: f64,
    #[serde(default)]
    pub(super) phase: String,
    #[serde(default)]
    pub(super) node: String,
    #[serde(default)]
    pub(super) requests: AmountsInput,
    #[serde(default)]
    pub(super) role: String,
    #[serde(default = "one")]
    pub(super) priority: i64,
    #[serde(default = "yes")]
    pub(super) preemptable: bool,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) annotations: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) hint: Option<Hint>,
    /// Seconds since the epoch.
    #[serde(default)]
    pub(super) started: Option<f64>,
    #[serde(default)]
    pub(super) node_selector: BTreeMap<String, String>,
    #[serde(default)]
    affinity: AffinityInput,
    #[serde(default)]
    pub(super) tolerations: Vec<Toleration>,
    #[serde(default)]
    topology_spread: Vec<SpreadInput>,
    #[serde(default)]
    ports: Vec<PortInput>,
    #[serde(default)]
    preemption_policy: Option<String>,
    /// The node that others were evicted from for it.
    #[serde(default)]
    pub(super) nominated_node: Option<String>,
    #[serde(default)]
    pub(super) deleting: bool,
}

const fn one() -> i64 {
    1
}

const fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AffinityInput {
    node_required: Vec<NodeTerm>,
    node_preferred: Vec<NodePreference>,
    task_affinity_required: Vec<TermInput>,
    task_anti_affinity_required: Vec<TermInput>,
    task_affinity_preferred: Vec<TermInput>,
    task_anti_affinity_preferred: Vec<TermInput>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodePreference {
    weight: i64,
    #[serde(rename = "match")]
    term: NodeTerm,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TermInput {
    #[serde(default)]
    weight: i64,
    #[serde(default)]
    selector: Selector,
    topology_key: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpreadInput {
    max_skew: i64,
    topology_key: String,
    when_unsatisfiable: Unsatisfiable,
    #[serde(default)]
    selector: Selector,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Unsatisfiable {
    DoNotSchedule,
    ScheduleAnyway,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PortInput {
    #[serde(alias = "host_port")]
    port: u16,
    #[serde(default = "tcp")]
    protocol: String,
}

fn tcp() -> String {
    "TCP".to_owned()
}

impl TaskInput {
    /// What it is known by.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Its state when the cycle begins.
    pub(super) fn status(&self) -> Result<Status, String> {
        Ok(match (self.phase.as_str(), self.deleting) {
            ("Succeeded", _) => Status::Succeeded,
            ("Failed", _) => Status::Failed,
            ("Running", false) => Status::Running,
            ("Running" | "Pending" | "", true) => Status::Releasing,
            ("Pending" | "", false) if self.node.is_empty() => Status::Pending,
            ("Pending" | "", false) => Status::Bound,
            ("Unknown", _) => Status::Unknown,
            (other, _) => {
                return Err(format!(
                    "phase of task {:?} is {other:?}: expected Pending, Running, Succeeded, \
                     Failed or Unknown",
                    self.name
                ));
            }
        })
    }

    pub(super) fn may_preempt(&self) -> bool {
        self.preemption_policy.as_deref() != Some("Never")
    }

    /// Its annotations and, for keys that these have not, its labels.
    pub(super) fn notes(&self) -> BTreeMap<String, String> {
        let mut notes = self.labels.clone();
        notes.extend(self.annotations.clone());
        notes
    }

    /// Whether it asks anything of or about other tasks.
    pub(super) fn looks_at_tasks(&self) -> bool {
        let wishes = &self.affinity;
        let terms = [
            &wishes.task_affinity_required,
            &wishes.task_anti_affinity_required,
            &wishes.task_affinity_preferred,
            &wishes.task_anti_affinity_preferred,
        ];
        terms.iter().any(|terms| !terms.is_empty()) || !self.topology_spread.is_empty()
    }

    /// Whether it has wishes of its own.
    pub(super) fn has_wishes(&self) -> bool {
        let hosts =
            !(self.affinity.node_required.is_empty() && self.affinity.node_preferred.is_empty());
        hosts || self.looks_at_tasks() || !self.ports.is_empty()
    }

    pub(super) fn wishes(&self) -> Wishes {
        let wishes = &self.affinity;
        let plain = |terms: &[TermInput]| terms.iter().map(TermInput::term).collect();
        let weighed =
            |terms: &[TermInput]| terms.iter().map(|term| (term.weight, term.term())).collect();
        let preference = |it: &NodePreference| (it.weight, it.term.clone());
        Wishes {
            namespace: self.namespace.clone(),
            labels: self.labels.clone(),
            node_required: wishes.node_required.clone(),
            node_preferred: wishes.node_preferred.iter().map(preference).collect(),
            near: plain(&wishes.task_affinity_required),
            apart: plain(&wishes.task_anti_affinity_required),
            near_preferred: weighed(&wishes.task_affinity_preferred),
            apart_preferred: weighed(&wishes.task_anti_affinity_preferred),
            spread: self.topology_spread.iter().map(SpreadInput::spread).collect(),
            ports: self.ports.iter().map(PortInput::port).collect(),
        }
    }
}

impl TermInput {
    fn term(&self) -> TaskTerm {
        TaskTerm { selector: self.selector.clone(), topology_key: self.topology_key.clone() }
    }
}

impl SpreadInput {
    fn spread(&self) -> Spread {
        Spread {
            selector: self.selector.clone(),
            topology_key: self.topology_key.clone(),
            max_skew: self.max_skew,
            hard: self.when_unsatisfiable == Unsatisfiable::DoNotSchedule,
        }
    }
}

impl PortInput {
    fn port(&self) -> HostPort {
        HostPort { protocol: self.protocol.clone(), port: self.port }
    }
}

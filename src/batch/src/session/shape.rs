//! Shapes: all of a request that hosts are judged by.

use super::objects::QueueIx;
use super::selector::{NodeTerm, Selector};
use crate::amounts::Amounts;
use crate::world::{Ask, TraitRules};
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_engine::hint::Hint;
use stowplan_model::host::{Taint, TaintEffect};

/// All of a request that hosts are judged by: tasks of one shape fit on the
/// same hosts and score alike there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What it is charged.
    pub request: Amounts,
    /// Labels that the host must have.
    pub node_selector: Arc<BTreeMap<String, String>>,
    /// Taints that it tolerates.
    pub tolerations: Arc<Vec<Toleration>>,
    /// Traits of the providers that it takes from.
    pub traits: TraitRules,
    /// What else is asked; none for most.
    pub wishes: Option<Arc<Wishes>>,
    /// Hosts that it must or would rather have, and whatever else its
    /// scheduling hint tells plugins; none for most.
    pub hint: Option<Arc<Hint>>,
    /// Its queue, where queues differ in the hosts that they may use.
    pub queue: Option<QueueIx>,
    /// Annotations by which plugins judge hosts ([`HOST_NOTES`]).
    pub notes: Arc<BTreeMap<String, String>>,
}

/// Annotations of tasks by which plugins judge hosts. All others make no
/// difference between shapes.
pub const HOST_NOTES: &[&str] = &[
    "volcano.sh/revocable-zone",
    "volcano.sh/preemptable",
    "volcano.sh/numa-topology-policy",
    "volcano.sh/resource-strategy-scoring-type",
    "volcano.sh/resource-strategy-weight",
];

/// Those of a task's annotations by which plugins judge hosts.
#[must_use]
pub fn host_notes(annotations: &BTreeMap<String, String>) -> Arc<BTreeMap<String, String>> {
    let known = |key: &&&str| annotations.contains_key(**key);
    let keys = HOST_NOTES.iter().filter(known);
    Arc::new(keys.map(|key| ((*key).to_owned(), annotations[*key].clone())).collect())
}

/// What a few tasks ask besides: which hosts, near whom, far from whom. Other
/// tasks may ask about its labels, so they are part of the shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wishes {
    /// Its namespace: affinity between tasks holds within one.
    pub namespace: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Hosts must match one of these; none: any host.
    pub node_required: Vec<NodeTerm>,
    /// Hosts that match are better by so much.
    pub node_preferred: Vec<(i64, NodeTerm)>,
    /// There must be such tasks in the host's domain.
    pub near: Vec<TaskTerm>,
    /// There must be none.
    pub apart: Vec<TaskTerm>,
    /// Better by so much for each such task in the domain.
    pub near_preferred: Vec<(i64, TaskTerm)>,
    /// Worse by so much.
    pub apart_preferred: Vec<(i64, TaskTerm)>,
    /// How tasks are to be spread over domains.
    pub spread: Vec<Spread>,
    /// Ports of the host that it listens on.
    pub ports: Vec<HostPort>,
}

/// Tasks in a domain of hosts: those that agree in one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskTerm {
    /// Which tasks.
    pub selector: Selector,
    /// The label of hosts that makes the domains.
    pub topology_key: String,
}

/// How evenly tasks are to be spread over domains.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spread {
    /// Which tasks are counted.
    pub selector: Selector,
    /// The label of hosts that makes the domains.
    pub topology_key: String,
    /// By how much a domain may be ahead of the emptiest.
    pub max_skew: i64,
    /// Whether a host that would break it cannot be taken, or is only worse.
    pub hard: bool,
}

/// A port of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPort {
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    /// The number.
    pub port: u16,
}

impl Shape {
    /// What it asks of a host's providers.
    #[must_use]
    pub fn ask(&self) -> Ask<'_> {
        Ask { amounts: &self.request, traits: &self.traits }
    }

    /// Whether it asks for nothing but a place.
    #[must_use]
    pub fn is_best_effort(&self) -> bool {
        self.request.is_empty()
    }

    /// Whether it tolerates a taint.
    #[must_use]
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|toleration| toleration.covers(taint))
    }

    /// Whether its node selector and required host affinity let it on a host
    /// of these labels and this name.
    #[must_use]
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.wishes.as_ref().is_none_or(|wishes| {
                wishes.node_required.is_empty()
                    || wishes.node_required.iter().any(|term| term.matches(labels))
            })
    }
}

/// Which taints a task tolerates, as Kubernetes has it.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    utoipa::ToSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct Toleration {
    /// Key of the taint; empty (with `Exists`) for every key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the value is compared.
    pub operator: TolerationOperator,
    /// The value, for `Equal`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The effect, `NoSchedule` or `NoExecute`; none for every effect.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
}

impl Toleration {
    /// Kubernetes' rule.
    #[must_use]
    pub fn covers(&self, taint: &Taint) -> bool {
        let every_key = self.key.is_empty() && self.operator == TolerationOperator::Exists;
        let value = match self.operator {
            TolerationOperator::Exists => true,
            TolerationOperator::Equal => self.value == taint.value,
        };
        (every_key || self.key == taint.key)
            && value
            && self.effect.is_none_or(|effect| effect == taint.effect)
    }
}

/// How a toleration compares the value of a taint.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    utoipa::ToSchema,
)]
pub enum TolerationOperator {
    /// The values are equal.
    #[default]
    Equal,
    /// Whatever the value.
    Exists,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_follow_key_value_and_effect() {
        let taint = Taint {
            key: "gpu".to_owned(),
            value: "a100".to_owned(),
            effect: TaintEffect::NoSchedule,
        };
        let toleration = |key: &str, operator, value: &str, effect| Toleration {
            key: key.to_owned(),
            operator,
            value: value.to_owned(),
            effect,
        };
        use TolerationOperator::{Equal, Exists};
        for (toleration, tolerated) in [
            (toleration("gpu", Equal, "a100", None), true),
            (toleration("gpu", Equal, "h100", None), false),
            (toleration("gpu", Exists, "", Some(TaintEffect::NoSchedule)), true),
            (toleration("gpu", Exists, "", Some(TaintEffect::NoExecute)), false),
            (toleration("", Exists, "", None), true),
            (toleration("", Equal, "a100", None), false),
        ] {
            assert_eq!(toleration.covers(&taint), tolerated, "{toleration:?}");
        }
    }
}

//! Jobs as the ledger keeps them.

use super::{DisruptionBudget, NetworkTopology, SubGroups};
use crate::amounts::{Dims, Quantity};
use crate::session::{Budget, Toleration};
use crate::world::{TraitRule, TraitRules};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_model::Uuid;
use stowplan_scheduler::select::SchedulingHint;
use utoipa::ToSchema;

/// What becomes of a job when one of its tasks fails and is not tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTaskFailure {
    /// The job goes on as long as its minimum can be reached, and else fails.
    #[default]
    Ignore,
    /// All tasks are stopped and start anew, as often as `max_retries` says;
    /// then the job fails.
    RestartJob,
    /// The job fails.
    FailJob,
}

/// Whether others are evicted for a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum PreemptionPolicy {
    /// Those of lower priority are.
    #[default]
    PreemptLowerPriority,
    /// Nobody is.
    Never,
}

const fn yes() -> bool {
    true
}

/// A job's specification, checked and with all defaults put in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSpec {
    /// Who submitted it.
    pub user: String,
    /// Higher is served first.
    pub priority: i64,
    /// The class that gave it its priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_class: Option<String>,
    /// How many of its tasks must have a place for any to be placed.
    pub min_available: u32,
    /// The same per role.
    pub min_task_member: BTreeMap<String, u32>,
    /// What must be left of its queue's limits for it to be admitted: units by
    /// resource class; null for no such check.
    #[serde(default)]
    pub min_resources: Option<BTreeMap<String, i64>>,
    /// How near to each other its tasks have to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_topology: Option<NetworkTopology>,
    /// Parts of it that are placed together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_groups: Vec<SubGroups>,
    /// Whether its tasks may be evicted for others.
    #[serde(default = "yes")]
    pub preemptable: bool,
    /// Seconds that a task of it may run.
    #[serde(default)]
    pub run_limit_s: Option<u32>,
    /// How often a failed task is tried again.
    #[serde(default)]
    pub max_retries: u32,
    /// What becomes of it when a task fails.
    #[serde(default)]
    pub on_task_failure: OnTaskFailure,
    /// Seconds after its end at which it is forgotten; null for never.
    #[serde(default)]
    pub ttl_after_finished_s: Option<u32>,
    /// Marks the body that it was submitted with, where that came with an
    /// Idempotency-Key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<Uuid>,
    /// Hosts that tasks must or would rather have, of roles that have no hint
    /// of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<SchedulingHint>,
    /// How many of its tasks others may take off their hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disruption_budget: Option<DisruptionBudget>,
    /// Free texts.
    pub annotations: BTreeMap<String, String>,
    /// Its roles.
    pub tasks: Vec<RoleSpec>,
}

/// A role's specification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoleSpec {
    /// Its name.
    pub role: String,
    /// How many tasks it has.
    pub count: u32,
    /// What each of them asks for, as submitted.
    #[schema(value_type = BTreeMap<String, String>)]
    pub requests: BTreeMap<String, Quantity>,
    /// What each of them is charged: units by resource class, rounded up once.
    pub charged: BTreeMap<String, i64>,
    /// Higher is placed first within the job.
    pub priority: i64,
    /// Whether its tasks may be evicted for others.
    #[serde(default = "yes")]
    pub preemptable: bool,
    /// Whether others are evicted for its tasks.
    #[serde(default)]
    pub preemption_policy: PreemptionPolicy,
    /// Free texts.
    pub labels: BTreeMap<String, String>,
    /// Free texts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Traits of the providers that it takes from, by resource class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_traits: BTreeMap<String, Vec<String>>,
    /// Labels that the host must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints that are tolerated.
    pub tolerations: Vec<Toleration>,
    /// Hosts that its tasks must or would rather have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<SchedulingHint>,
}

impl JobSpec {
    /// How many tasks it has.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.tasks.iter().map(|role| u64::from(role.count)).sum()
    }

    /// How many of its tasks others may take off their hosts: as it is stated,
    /// else as annotations say.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        let stated = self.disruption_budget.and_then(DisruptionBudget::budget);
        stated.or_else(|| Budget::of_annotations(&self.annotations))
    }

    /// The role of a name.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&RoleSpec> {
        self.tasks.iter().find(|role| role.role == name)
    }

    /// The hint that counts for the tasks of a role.
    #[must_use]
    pub fn hint_of<'a>(&'a self, role: &'a RoleSpec) -> Option<&'a SchedulingHint> {
        role.hint.as_ref().or(self.hint.as_ref())
    }

    /// From a row of the ledger.
    ///
    /// # Errors
    /// When the row is not what this version writes.
    pub fn read(value: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(value)
    }
}

impl RoleSpec {
    /// Its annotations and, for keys that these have not, its labels.
    #[must_use]
    pub fn notes(&self) -> BTreeMap<String, String> {
        let mut notes = self.labels.clone();
        notes.extend(self.annotations.clone());
        notes
    }

    /// What it asks of the traits of providers.
    #[must_use]
    pub fn trait_rules(&self, dims: &Dims) -> TraitRules {
        let rules = self.required_traits.iter().flat_map(|(class, texts)| {
            let dim = dims.holding(class);
            texts.iter().filter_map(move |text| Some((dim?, TraitRule::read(text))))
        });
        TraitRules::new(rules.collect())
    }

    /// Whether its tasks ask for nothing but a place.
    #[must_use]
    pub fn is_best_effort(&self) -> bool {
        self.charged.keys().all(|class| class == crate::amounts::TASK_CLASS)
    }
}

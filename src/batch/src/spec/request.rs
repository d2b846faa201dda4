//! A job as its submitter states it: the body of `POST /v1/jobs`.

use super::{
    DisruptionBudget, NetworkTopology, OnTaskFailure, PreemptionPolicy, Resources, SubGroups, later,
};
use crate::amounts::Quantity;
use crate::error::BatchError;
use crate::session::Toleration;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use stowplan_scheduler::select::SchedulingHint;
use utoipa::ToSchema;

/// A job to be run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct JobRequest {
    /// Its name, unique in its namespace: 1 to 200 characters without `/`.
    /// Without one the job is named by its id.
    #[schema(examples("train"))]
    pub name: Option<String>,
    /// Its namespace; without one, the caller's project.
    pub namespace: Option<String>,
    /// Its queue; without one, `default`.
    pub queue: Option<String>,
    /// Higher is served first; without one, that of `priority_class`.
    pub priority: Option<i64>,
    /// The priority class; without one, the class that is everybody's, if there
    /// is one, and else priority 0.
    pub priority_class: Option<String>,
    /// How many of its tasks must have a place for any to be placed; without
    /// one, all of them.
    #[schema(minimum = 0)]
    pub min_available: Option<i64>,
    /// The same per role.
    pub min_task_member: BTreeMap<String, i64>,
    /// What must be left of its queue's limits for it to be admitted. Without a
    /// word, what the first `min_available` tasks by priority ask for; null for
    /// no such check.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub min_resources: Option<Option<Resources>>,
    /// How near to each other its tasks have to be; without a word, it does not
    /// matter.
    pub network_topology: Option<NetworkTopology>,
    /// Parts of it that are placed together or not at all.
    pub sub_groups: Vec<SubGroups>,
    /// Whether its tasks may be evicted for others; without a word, true.
    pub preemptable: Option<bool>,
    /// Whether it is held back until it is resumed; without a word, false.
    pub suspend: Option<bool>,
    /// Seconds that a task of it may run; without a number, no limit.
    #[schema(minimum = 1)]
    pub run_limit_s: Option<i64>,
    /// How often a failed task is tried again, after 10 s, 20 s, 40 s, ... and
    /// at most 6 minutes; without a number, 0.
    #[schema(minimum = 0)]
    pub max_retries: Option<i64>,
    /// What becomes of it when a task fails and is not tried again; without a
    /// word, `ignore`.
    pub on_task_failure: Option<OnTaskFailure>,
    /// Seconds after its end at which it is forgotten; without a number, never.
    #[schema(minimum = 0)]
    pub ttl_after_finished_s: Option<i64>,
    /// Hosts that its tasks must or would rather have.
    pub hint: Option<SchedulingHint>,
    /// How many of its tasks others may take off their hosts; without one, as
    /// the annotations `volcano.sh/jdb-max-unavailable` or `-min-available` say,
    /// and else as many as there are.
    pub disruption_budget: Option<DisruptionBudget>,
    /// Free texts, kept and shown; plugins read some of them. A hint may stand here as JSON text, too,
    /// under `internal.scheduling.koordinator.sh/scheduling-hint` (or
    /// `scheduling.koordinator.sh/scheduling-hint`, which is deprecated).
    pub annotations: BTreeMap<String, String>,
    /// Its tasks, role by role.
    pub tasks: Vec<RoleRequest>,
}

/// Tasks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleRequest {
    /// The role's name, unique in its job; without one, `task`.
    #[schema(examples("worker"))]
    pub role: Option<String>,
    /// How many tasks; without a number, 1.
    #[schema(minimum = 1)]
    pub count: Option<i64>,
    /// What each task asks for: quantities by dimension of `[batch]
    /// resource_map`. Nothing makes it a best-effort task.
    #[schema(value_type = BTreeMap<String, String>, example = json!({"cpu": "500m", "memory": "1Gi"}))]
    pub requests: BTreeMap<String, Quantity>,
    /// Traits that the provider must have which gives what is asked for of a
    /// dimension, as the model of a device: a trait, `!` and a trait that it must
    /// not have, or `in:` and a list of traits of which it must have one, as in
    /// Placement's `required`. All of them must hold.
    #[schema(example = json!({"nvidia.com/gpu": ["CUSTOM_GPU_A100"]}))]
    pub required_traits: BTreeMap<String, Vec<String>>,
    /// Higher is placed first within the job; without one, 1.
    pub priority: Option<i64>,
    /// Whether its tasks may be evicted for others; without a word, as its job
    /// says.
    pub preemptable: Option<bool>,
    /// Whether others are evicted for its tasks; without a word, as the
    /// priority class says.
    pub preemption_policy: Option<PreemptionPolicy>,
    /// Free texts, kept and shown.
    pub labels: BTreeMap<String, String>,
    /// Free texts, kept and shown; plugins read some of them.
    pub annotations: BTreeMap<String, String>,
    /// Labels that the host must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints that are tolerated.
    pub tolerations: Vec<Toleration>,
    /// Hosts that its tasks must or would rather have; it stands in for the
    /// job's hint as a whole.
    pub hint: Option<SchedulingHint>,
}

/// Reads the body of a submission.
///
/// # Errors
/// Every field that is unknown, has no function in this version, or whose
/// value is not of its kind.
pub fn read_job(body: &[u8]) -> Result<JobRequest, BatchError> {
    later::check(body)?;
    Ok(stowplan_scheduler::body::read(body)?)
}

/// A field that is given, be it null: without this null would count as not
/// given.
fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<Resources>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

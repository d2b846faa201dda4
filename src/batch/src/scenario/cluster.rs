//! A cluster as a scenario writes it.

use super::amounts::AmountsInput;
use super::task::TaskInput;
use super::topology::{HyperNodeInput, SubGroupInput, TopologyInput};
use crate::session::NodeGroups;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_engine::Hint;
use stowplan_engine::hint::from_annotations;
use stowplan_model::host::Taint;
use stowplan_model::host_devices::NumaCell;

/// All that there is when a cycle begins.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Cluster {
    /// Seconds since the epoch; without it no waiting limit is over.
    #[serde(default)]
    pub(super) now: Option<f64>,
    /// As the option `[batch] resource_map`; without it amounts are exact.
    #[serde(default)]
    pub(super) resource_map: Option<Value>,
    /// As the option `[batch] total`; without it queues share all that nodes
    /// have.
    #[serde(default)]
    pub(super) total: Option<TotalInput>,
    pub(super) nodes: Vec<NodeInput>,
    pub(super) queues: Vec<QueueInput>,
    #[serde(default)]
    pub(super) priority_classes: Vec<ClassInput>,
    pub(super) jobs: Vec<JobInput>,
    /// Tasks that only use their nodes.
    #[serde(default)]
    pub(super) tasks_without_job: Vec<TaskInput>,
    #[serde(default)]
    pub(super) shard: Option<ShardInput>,
    /// Topology domains.
    #[serde(default)]
    pub(super) hyper_nodes: Vec<HyperNodeInput>,
    /// Quotas of namespaces.
    #[serde(default)]
    pub(super) resource_quotas: Vec<QuotaInput>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TotalInput {
    Available,
    Physical,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeInput {
    pub(super) name: String,
    pub(super) allocatable: AmountsInput,
    /// What others than the tasks below hold of it.
    #[serde(default)]
    pub(super) used: AmountsInput,
    /// Dimensions whose amounts come from several devices, with all that is
    /// held of each, by whomever.
    #[serde(default)]
    pub(super) devices: BTreeMap<String, Vec<DeviceInput>>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default, rename = "annotations")]
    _annotations: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) taints: Vec<Taint>,
    #[serde(default)]
    pub(super) unschedulable: bool,
    /// What it measures, by name; percentages as 0 to 100.
    #[serde(default)]
    pub(super) metrics: BTreeMap<String, i64>,
    /// Its NUMA cells, as hosts report them.
    #[serde(default)]
    pub(super) numa_cells: Vec<NumaCell>,
}

/// One device, in quanta of its dimension.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceInput {
    pub(super) capacity: i64,
    #[serde(default)]
    pub(super) used: i64,
    #[serde(default = "one")]
    pub(super) min_unit: i64,
    #[serde(default = "any")]
    pub(super) max_unit: i64,
    #[serde(default = "one")]
    pub(super) step_size: i64,
}

const fn any() -> i64 {
    i64::MAX
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueInput {
    pub(super) name: String,
    /// Seconds since the epoch.
    #[serde(default)]
    pub(super) created: f64,
    #[serde(default = "one")]
    pub(super) weight: i64,
    #[serde(default)]
    pub(super) priority: i64,
    #[serde(default)]
    pub(super) capability: AmountsInput,
    #[serde(default)]
    pub(super) deserved: AmountsInput,
    #[serde(default)]
    pub(super) guarantee: GuaranteeInput,
    #[serde(default)]
    pub(super) parent: Option<String>,
    #[serde(default = "yes")]
    pub(super) reclaimable: bool,
    #[serde(default)]
    pub(super) state: Option<String>,
    #[serde(default)]
    pub(super) hierarchy: String,
    #[serde(default)]
    pub(super) hierarchy_weights: String,
    /// Groups of nodes.
    #[serde(default)]
    pub(super) affinity: Option<NodeGroups>,
    /// Limits by group of nodes.
    #[serde(default)]
    pub(super) node_group_limits: BTreeMap<String, AmountsInput>,
}

impl QueueInput {
    /// Whether it says which hosts it may use.
    pub(super) fn keeps_to_groups(&self) -> bool {
        self.affinity.is_some() || !self.node_group_limits.is_empty()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotaInput {
    pub(super) namespace: String,
    #[serde(default, rename = "name")]
    _name: Option<String>,
    pub(super) hard: AmountsInput,
    /// What counts already; nothing unless it is said, for recorded tasks do
    /// not count.
    #[serde(default)]
    pub(super) used: AmountsInput,
    /// Whether the tasks of its jobs count, and what admitted jobs still need:
    /// then `used` does not.
    #[serde(default)]
    pub(super) counts_tasks: bool,
}

const fn one() -> i64 {
    1
}

const fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GuaranteeInput {
    #[serde(default)]
    pub(super) resource: AmountsInput,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassInput {
    pub(super) name: String,
    pub(super) value: i64,
    /// It is the task's own policy that counts.
    #[serde(default, rename = "preemption_policy")]
    _preemption_policy: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShardInput {
    pub(super) mode: ShardMode,
    #[serde(default, rename = "name")]
    _name: Option<String>,
    pub(super) nodes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ShardMode {
    Hard,
    Soft,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobInput {
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: String,
    /// Seconds since the epoch.
    #[serde(default)]
    pub(super) created: f64,
    pub(super) queue: String,
    #[serde(default)]
    pub(super) min_member: u32,
    #[serde(default)]
    pub(super) min_task_member: BTreeMap<String, u32>,
    #[serde(default)]
    pub(super) phase: String,
    #[serde(default)]
    pub(super) min_resources: Option<AmountsInput>,
    #[serde(default)]
    pub(super) priority_class: Option<String>,
    #[serde(default)]
    pub(super) annotations: BTreeMap<String, String>,
    /// Of tasks that have no hint of their own.
    #[serde(default)]
    pub(super) hint: Option<Hint>,
    #[serde(default)]
    pub(super) network_topology: Option<TopologyInput>,
    #[serde(default)]
    pub(super) sub_group_policy: Vec<SubGroupInput>,
    #[serde(default)]
    pub(super) tasks: Vec<TaskInput>,
}

impl JobInput {
    /// What it is known by.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// The hint of a job or a task, from its own field or from annotations.
pub(super) fn hint(
    own: Option<&Hint>,
    annotations: &BTreeMap<String, String>,
) -> Result<Option<Hint>, String> {
    match (own, from_annotations(annotations).map_err(|error| error.to_string())?) {
        (Some(_), Some(found)) => {
            Err(format!("hint: expected nothing, as {} holds one", found.key))
        }
        (own, found) => Ok(own.cloned().or(found.map(|found| found.hint))),
    }
}

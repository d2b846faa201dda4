//! Queues as operators state them, and as the ledger keeps them.

use super::names::check_name;
use crate::amounts::{Amounts, DimIx, Dims, Quantity};
use crate::error::BatchError;
use crate::session::NodeGroups;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_scheduler::fields::FieldErrors;
use utoipa::ToSchema;

/// Quantities by dimension, such as `{"cpu": "10", "memory": "64Gi"}`.
pub type Resources = BTreeMap<String, Quantity>;

/// The largest weight.
const MAX_WEIGHT: i64 = 1_000_000;
/// The most projects that `may_submit` names.
const MAX_PROJECTS: usize = 1000;

/// How a queue's guarantee is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuaranteePolicy {
    /// What runs is not evicted for it.
    #[default]
    BestEffort,
}

/// A part of all hosts, as an amount.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Percentage {
    /// The dimensions that are compared where amounts are given as well: the
    /// bigger of the two counts.
    pub dimensions: Vec<String>,
    /// The part of the hosts, from 0 to 1, rounded down to whole hosts.
    #[schema(minimum = 0, maximum = 1, examples(0.25))]
    pub value: f64,
}

/// What is left to a queue whatever the others do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Guarantee {
    /// How it is kept.
    pub policy: GuaranteePolicy,
    /// How much.
    #[schema(value_type = BTreeMap<String, String>)]
    pub resource: Resources,
    /// How much as a part of the hosts. It is kept and shown; hosts are locked
    /// for it by the plugin node_reservation alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentage: Option<Percentage>,
}

/// What an operator says of a queue. On creation a field that is not given has
/// its default; on update it stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct QueueRequest {
    /// Its name, on creation: 1 to 200 characters without `/` and `:`.
    #[schema(examples("gold"))]
    pub name: Option<String>,
    /// The queue above it; without one, `root`.
    pub parent: Option<String>,
    /// Its share among queues (plugin proportion); without one, 1.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub weight: Option<i64>,
    /// Higher is served first; without one, 0.
    pub priority: Option<i64>,
    /// Whether others may take back what it holds above its share; without a
    /// word, true.
    pub reclaimable: Option<bool>,
    /// What it may hold at most. A dimension that is not given is unlimited.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"cpu": "10"}))]
    pub capability: Option<Resources>,
    /// Its share (plugin capacity): up to it the queue may take back from
    /// others, above it others may take back.
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"cpu": "5"}))]
    pub deserved: Option<Resources>,
    /// What is left to it whatever the others do.
    pub guarantee: Option<Guarantee>,
    /// Its place in the tree of weights (drf with enableHierarchy), such as
    /// `root/eng/prod`.
    pub hierarchy: Option<String>,
    /// The weights along that path, such as `1/2/8`.
    pub hierarchy_weights: Option<String>,
    /// The groups of hosts that it may use (plugin nodegroup); without a word,
    /// those of the queue above it (with enableHierarchy).
    pub affinity: Option<NodeGroups>,
    /// What it may hold at most in single groups of hosts (plugin nodegroup).
    #[schema(
        value_type = Option<BTreeMap<String, BTreeMap<String, String>>>,
        example = json!({"gpu": {"cpu": "64"}})
    )]
    pub node_group_limits: Option<BTreeMap<String, Resources>>,
    /// The projects that may submit jobs; none named: all.
    pub may_submit: Option<Vec<String>>,
}

/// A queue's specification, checked and with all defaults put in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct QueueSpec {
    /// The queue above it; none for the root.
    pub parent: Option<String>,
    /// Its share among queues.
    pub weight: i64,
    /// Higher is served first.
    pub priority: i64,
    /// Whether others may take back what it holds above its share.
    pub reclaimable: bool,
    /// What it may hold at most.
    #[schema(value_type = BTreeMap<String, String>)]
    pub capability: Resources,
    /// Its share.
    #[schema(value_type = BTreeMap<String, String>)]
    pub deserved: Resources,
    /// What is left to it whatever the others do.
    pub guarantee: Guarantee,
    /// Its place in the tree of weights.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hierarchy: String,
    /// The weights along that path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hierarchy_weights: String,
    /// The groups of hosts that it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<NodeGroups>,
    /// What it may hold at most in single groups of hosts.
    #[schema(value_type = BTreeMap<String, BTreeMap<String, String>>)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub node_group_limits: BTreeMap<String, Resources>,
    /// The projects that may submit jobs; none named: all.
    pub may_submit: Vec<String>,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            parent: None,
            weight: 1,
            priority: 0,
            reclaimable: true,
            capability: Resources::new(),
            deserved: Resources::new(),
            guarantee: Guarantee::default(),
            hierarchy: String::new(),
            hierarchy_weights: String::new(),
            affinity: None,
            node_group_limits: BTreeMap::new(),
            may_submit: Vec::new(),
        }
    }
}

impl QueueSpec {
    /// From a row of the ledger. What is missing has its default.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        Self::deserialize(value).unwrap_or_default()
    }

    /// The same after an update.
    #[must_use]
    pub fn updated(mut self, request: &QueueRequest) -> Self {
        fn put<T: Clone>(to: &mut T, from: &Option<T>) {
            if let Some(value) = from {
                *to = value.clone();
            }
        }
        if request.parent.is_some() {
            self.parent.clone_from(&request.parent);
        }
        put(&mut self.weight, &request.weight);
        put(&mut self.priority, &request.priority);
        put(&mut self.reclaimable, &request.reclaimable);
        put(&mut self.capability, &request.capability);
        put(&mut self.deserved, &request.deserved);
        put(&mut self.guarantee, &request.guarantee);
        put(&mut self.hierarchy, &request.hierarchy);
        put(&mut self.hierarchy_weights, &request.hierarchy_weights);
        if request.affinity.is_some() {
            self.affinity.clone_from(&request.affinity);
        }
        put(&mut self.node_group_limits, &request.node_group_limits);
        put(&mut self.may_submit, &request.may_submit);
        self
    }

    /// Whether jobs of a project may be submitted to it.
    #[must_use]
    pub fn admits(&self, project: &str) -> bool {
        self.may_submit.is_empty() || self.may_submit.iter().any(|name| name == project)
    }
}

/// Resources in whole units of the dimensions' classes, rounded down: a limit
/// of half a unit is none. A dimension that is not mapped any more is left
/// out.
#[must_use]
pub fn units(resources: &Resources, dims: &Dims) -> Amounts {
    let mut amounts = Amounts::new();
    for (name, quantity) in resources {
        let mapped = dims.iter().find(|(_, dim)| dim.name == *name && dim.class.is_some());
        if let Some((at, dim)) = mapped {
            amounts.set(at, quantity.whole_quanta(dim.quantum));
        }
    }
    amounts
}

/// The dimensions that resources name, with their limits in whole units, rounded
/// down. A dimension that is not mapped any more is left out.
#[must_use]
pub fn named_limits(resources: &Resources, dims: &Dims) -> Vec<(DimIx, i64)> {
    let amounts = units(resources, dims);
    let named = |dim: &DimIx| resources.contains_key(dims.name(*dim));
    amounts.iter().filter(|(dim, _)| named(dim)).collect()
}

/// Reads the body that creates or updates a queue.
///
/// # Errors
/// Every field that is unknown, or whose value is not of its kind.
pub fn read_queue(body: &[u8]) -> Result<QueueRequest, BatchError> {
    super::later::check_queue(body)?;
    Ok(stowplan_scheduler::body::read(body)?)
}

/// The name of a queue that is to be made.
///
/// # Errors
/// None given, or one that cannot be.
pub fn check_queue_name(request: &QueueRequest) -> Result<&str, FieldErrors> {
    let mut errors = FieldErrors::default();
    let name = request.name.as_deref().unwrap_or_default();
    if request.name.is_none() {
        errors.add("name", &request.name, "the name of the queue");
    } else {
        check_name(&mut errors, "name", name);
        errors.require(!name.contains(':'), "name", name, "a name without :");
    }
    errors.into_result(name)
}

/// Checks what can be said of a queue without looking at the others.
///
/// # Errors
/// Every field that cannot be.
pub fn check_queue(spec: &QueueSpec, dims: &Dims) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    let expected = format!("1 to {MAX_WEIGHT}");
    errors.require((1..=MAX_WEIGHT).contains(&spec.weight), "weight", &spec.weight, expected);
    let guarantee = &spec.guarantee.resource;
    for (field, resources) in [
        ("capability", &spec.capability),
        ("deserved", &spec.deserved),
        ("guarantee.resource", guarantee),
    ] {
        check_resources(&mut errors, field, resources, dims);
    }
    for name in ["cpu", "memory"] {
        if let Some(quantity) = spec.capability.get(name).filter(|quantity| quantity.is_zero()) {
            let expected = "more than nothing (leave it out for no limit)";
            errors.add(format!("capability.{name}"), quantity, expected);
        }
    }
    let bounds = [
        ("guarantee.resource", guarantee, "deserved", &spec.deserved),
        ("guarantee.resource", guarantee, "capability", &spec.capability),
        ("deserved", &spec.deserved, "capability", &spec.capability),
    ];
    for (field, resources, bound, most) in bounds {
        for (name, quantity) in resources {
            if let Some(most) = most.get(name).filter(|most| *most < quantity) {
                let expected = format!("at most {most}, its {bound}.{name}");
                errors.add(format!("{field}.{name}"), quantity, expected);
            }
        }
    }
    check_hierarchy(&mut errors, spec);
    check_groups(&mut errors, spec, dims);
    spec.guarantee.percentage.iter().for_each(|it| check_percentage(&mut errors, it, dims));
    let count = spec.may_submit.len();
    let expected = format!("at most {MAX_PROJECTS} projects");
    errors.require(count <= MAX_PROJECTS, "may_submit", &count, expected);
    for (place, project) in spec.may_submit.iter().enumerate() {
        check_name(&mut errors, &format!("may_submit[{place}]"), project);
    }
    errors.into_result(())
}

/// Checks that resources are in dimensions that the ledger holds.
pub(crate) fn check_resources(
    errors: &mut FieldErrors,
    field: &str,
    resources: &Resources,
    dims: &Dims,
) {
    for (name, quantity) in resources {
        let is_mapped = dims.iter().any(|(_, dim)| dim.name == *name && dim.class.is_some());
        if !is_mapped {
            errors.add(format!("{field}.{name}"), quantity, mapped(dims));
        }
    }
}

fn check_groups(errors: &mut FieldErrors, spec: &QueueSpec, dims: &Dims) {
    for (list, groups) in spec.affinity.iter().flat_map(NodeGroups::lists) {
        for (place, group) in groups.iter().enumerate() {
            let field = format!("affinity.{list}[{place}]");
            check_name(errors, &field, group);
            let is_new = !groups[..place].contains(group);
            errors.require(is_new, field, group, "a group that is not in the list yet");
        }
    }
    for (group, resources) in &spec.node_group_limits {
        check_name(errors, "node_group_limits", group);
        check_resources(errors, &format!("node_group_limits.{group}"), resources, dims);
    }
}

fn check_percentage(errors: &mut FieldErrors, percentage: &Percentage, dims: &Dims) {
    let value = percentage.value;
    let expected = "a part of the hosts, 0 to 1";
    errors.require((0.0..=1.0).contains(&value), "guarantee.percentage.value", &value, expected);
    let field = "guarantee.percentage.dimensions";
    errors.require(!percentage.dimensions.is_empty(), field, &percentage.dimensions, "one or more");
    for (place, name) in percentage.dimensions.iter().enumerate() {
        let at = format!("{field}[{place}]");
        if !dims.iter().any(|(_, dim)| dim.name == *name && dim.class.is_some()) {
            errors.add(at, name, mapped(dims));
        } else if percentage.dimensions[..place].contains(name) {
            errors.add(at, name, "each dimension once");
        }
    }
}

/// The dimensions that there are, as what was expected.
fn mapped(dims: &Dims) -> String {
    let known = dims.iter().filter(|(_, dim)| dim.class.is_some());
    let known: Vec<&str> = known.map(|(_, dim)| dim.name.as_str()).collect();
    format!("a dimension of [batch] resource_map: {}", known.join(", "))
}

fn check_hierarchy(errors: &mut FieldErrors, spec: &QueueSpec) {
    let depth = |text: &str| text.split('/').count();
    if !spec.hierarchy.is_empty() && spec.hierarchy.split('/').any(str::is_empty) {
        errors.add("hierarchy", &spec.hierarchy, "names with / between them, as in root/eng/prod");
    }
    let is_weight = |text: &str| text.parse().is_ok_and(|weight: f64| weight > 0.0);
    let weights = &spec.hierarchy_weights;
    let fits = weights.split('/').all(is_weight) && depth(weights) == depth(&spec.hierarchy);
    if !(weights.is_empty() || fits) {
        let expected = "as many weights as hierarchy has names, each above 0, as in 1/2/8";
        errors.add("hierarchy_weights", weights, expected);
    }
}

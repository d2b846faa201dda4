//! Priority classes and quotas: named objects that steer jobs; and how named
//! objects are kept.

use crate::amounts::Dims;
use crate::error::BatchError;
use crate::spec::{PreemptionPolicy, Resources, check_name};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use stowplan_ledger::rows::BatchObjectRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::fields::FieldErrors;
use utoipa::ToSchema;

/// The largest value of a priority class: as much as Kubernetes leaves to its
/// users.
const MAX_PRIORITY: i64 = 1_000_000_000;

/// What kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A priority class.
    PriorityClass,
    /// The quota of a project.
    Quota,
    /// A topology domain.
    Domain,
}

impl ObjectKind {
    /// The word of the ledger.
    const fn word(self) -> &'static str {
        match self {
            Self::PriorityClass => "priority_class",
            Self::Quota => "quota",
            Self::Domain => "domain",
        }
    }

    /// The word for people.
    const fn text(self) -> &'static str {
        match self {
            Self::PriorityClass => "priority class",
            Self::Quota => "quota of project",
            Self::Domain => "topology domain",
        }
    }

    fn uuid(self, name: &str) -> Uuid {
        Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{}/{name}", self.word()).as_bytes())
    }
}

/// What an operator says of a priority class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct PriorityClassRequest {
    /// The priority of jobs that name it: up to 1000000000 either way.
    #[schema(examples(1000))]
    pub value: Option<i64>,
    /// Whether others are evicted for tasks of such jobs; without a word they
    /// are.
    pub preemption_policy: Option<PreemptionPolicy>,
    /// Whether it is that of jobs that name none; without a word it is not.
    pub global_default: Option<bool>,
}

/// A priority class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriorityClass {
    /// Its name.
    pub name: String,
    /// The priority of jobs that name it. A change acts on jobs that are
    /// submitted from then on.
    pub value: i64,
    /// Whether others are evicted for tasks of such jobs.
    pub preemption_policy: PreemptionPolicy,
    /// Whether it is that of jobs that name none.
    pub global_default: bool,
}

/// What an operator says of a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct QuotaRequest {
    /// What jobs of the project may hold at most, by dimension of `[batch]
    /// resource_map`; a dimension that is not given is unlimited.
    #[schema(value_type = BTreeMap<String, String>, example = json!({"cpu": "64"}))]
    pub hard: Resources,
}

/// The quota of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Quota {
    /// The project: the namespace of its jobs.
    pub project: String,
    /// What its jobs may hold at most.
    #[schema(value_type = BTreeMap<String, String>)]
    pub hard: Resources,
}

/// Reads the body that puts a priority class.
///
/// # Errors
/// Every field that is unknown, or whose value is not of its kind.
pub fn read_priority_class(body: &[u8]) -> Result<PriorityClassRequest, BatchError> {
    Ok(stowplan_scheduler::body::read(body)?)
}

/// Reads the body that puts a quota.
///
/// # Errors
/// Every field that is unknown, or whose value is not of its kind.
pub fn read_quota(body: &[u8]) -> Result<QuotaRequest, BatchError> {
    Ok(stowplan_scheduler::body::read(body)?)
}

/// Puts a priority class, and tells whether it is new.
///
/// # Errors
/// Fields that cannot be, or a second class that is everybody's.
pub fn put_priority_class(
    image: &Image,
    name: &str,
    request: &PriorityClassRequest,
    now: Micros,
) -> Result<(Change, bool), BatchError> {
    let mut errors = FieldErrors::default();
    check_name(&mut errors, "name", name);
    let value = request.value.filter(|value| value.abs() <= MAX_PRIORITY);
    let expected = format!("a whole number from -{MAX_PRIORITY} to {MAX_PRIORITY}");
    errors.require(value.is_some(), "value", &request.value, expected);
    let class = PriorityClass {
        name: name.to_owned(),
        value: value.unwrap_or_default(),
        preemption_policy: request.preemption_policy.unwrap_or_default(),
        global_default: request.global_default.unwrap_or(false),
    };
    let default = priority_classes(image).find(|other| other.global_default && other.name != name);
    if let Some(other) = default.filter(|_| class.global_default) {
        errors.add("global_default", &true, format!("false, as {:?} is everybody's", other.name));
    }
    errors.into_result(())?;
    put(image, ObjectKind::PriorityClass, name, serde_json::to_value(class), now)
}

/// Puts the quota of a project, and tells whether it is new.
///
/// # Errors
/// Fields that cannot be.
pub fn put_quota(
    image: &Image,
    project: &str,
    request: &QuotaRequest,
    dims: &Dims,
    now: Micros,
) -> Result<(Change, bool), BatchError> {
    let mut errors = FieldErrors::default();
    check_name(&mut errors, "project", project);
    crate::spec::check_resources(&mut errors, "hard", &request.hard, dims);
    errors.into_result(())?;
    let quota = Quota { project: project.to_owned(), hard: request.hard.clone() };
    put(image, ObjectKind::Quota, project, serde_json::to_value(quota), now)
}

pub(super) fn put(
    image: &Image,
    kind: ObjectKind,
    name: &str,
    spec: Result<Value, serde_json::Error>,
    now: Micros,
) -> Result<(Change, bool), BatchError> {
    let spec = spec.unwrap_or_default();
    let before = image.batch.objects.get(kind.uuid(name));
    if before.is_some_and(|before| before.spec == spec) {
        return Ok((Change::nothing(), false));
    }
    let mut change = Change::new(&format!("{}.put", kind.word()));
    change.push(Record::BatchObject(BatchObjectRow {
        id: before.map_or(image.batch.objects.next_id(), |row| row.id),
        uuid: kind.uuid(name),
        kind: kind.word().to_owned(),
        name: name.to_owned(),
        spec,
        generation: before.map_or(0, |row| row.generation + 1),
        created: before.map_or(now, |row| row.created),
        updated: now,
    }));
    Ok((change, before.is_none()))
}

/// Deletes an object. Jobs that were submitted with it keep what it gave them.
///
/// # Errors
/// When there is none.
pub fn delete_object(
    image: &Image,
    kind: ObjectKind,
    name: &str,
) -> Result<(Change, ()), BatchError> {
    let row = find(image, kind, name)?;
    let mut change = Change::new(&format!("{}.delete", kind.word()));
    change.push(Record::BatchObjectGone(row.uuid));
    Ok((change, ()))
}

pub(super) fn find<'a>(
    image: &'a Image,
    kind: ObjectKind,
    name: &str,
) -> Result<&'a Arc<BatchObjectRow>, BatchError> {
    image
        .batch
        .objects
        .get(kind.uuid(name))
        .ok_or_else(|| BatchError::NoObject { kind: kind.text(), name: name.to_owned() })
}

pub(super) fn of_kind<'a, T: Deserialize<'a> + 'a>(
    image: &'a Image,
    kind: ObjectKind,
) -> impl Iterator<Item = T> + 'a {
    let rows = image.batch.objects.iter().filter(move |row| row.kind == kind.word());
    rows.filter_map(|row| T::deserialize(&row.spec).ok())
}

/// All priority classes, in order of creation.
pub fn priority_classes(image: &Image) -> impl Iterator<Item = PriorityClass> + '_ {
    of_kind(image, ObjectKind::PriorityClass)
}

/// The priority class of a name.
///
/// # Errors
/// When there is none.
pub fn priority_class(image: &Image, name: &str) -> Result<PriorityClass, BatchError> {
    let row = find(image, ObjectKind::PriorityClass, name)?;
    PriorityClass::deserialize(&row.spec)
        .map_err(|_| BatchError::NoObject { kind: "priority class", name: name.to_owned() })
}

/// The class of a job that names this one, or none: then the one that is
/// everybody's, if there is one.
///
/// # Errors
/// The field, when no such class exists.
pub fn class_for(image: &Image, named: Option<&str>) -> Result<Option<PriorityClass>, FieldErrors> {
    let Some(name) = named else {
        return Ok(priority_classes(image).find(|class| class.global_default));
    };
    priority_class(image, name).map(Some).map_err(|_| {
        let mut errors = FieldErrors::default();
        errors.add("priority_class", name, "the name of a priority class that exists");
        errors
    })
}

/// All quotas, in order of creation.
pub fn quotas(image: &Image) -> impl Iterator<Item = Quota> + '_ {
    of_kind(image, ObjectKind::Quota)
}

/// The quota of a project.
///
/// # Errors
/// When it has none.
pub fn quota(image: &Image, project: &str) -> Result<Quota, BatchError> {
    let row = find(image, ObjectKind::Quota, project)?;
    Quota::deserialize(&row.spec)
        .map_err(|_| BatchError::NoObject { kind: "quota of project", name: project.to_owned() })
}

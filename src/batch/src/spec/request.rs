//! A job as its submitter states it: the body of `POST /v1/jobs`.

use super::later;
use crate::amounts::Quantity;
use crate::error::BatchError;
use crate::session::Toleration;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
    /// Higher is served first; without one, 0.
    pub priority: Option<i64>,
    /// How many of its tasks must have a place for any to be placed; without
    /// one, all of them.
    #[schema(minimum = 0)]
    pub min_available: Option<i64>,
    /// The same per role.
    pub min_task_member: BTreeMap<String, i64>,
    /// Free texts, kept and shown.
    pub annotations: BTreeMap<String, String>,
    /// Its tasks, role by role.
    pub tasks: Vec<RoleRequest>,
}

stowplan_scheduler::body!(JobRequest);

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
    /// Higher is placed first within the job; without one, 1.
    pub priority: Option<i64>,
    /// Free texts, kept and shown.
    pub labels: BTreeMap<String, String>,
    /// Labels that the host must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints that are tolerated.
    pub tolerations: Vec<Toleration>,
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

//! Jobs and queues as the ledger keeps them.

use crate::amounts::Quantity;
use crate::session::Toleration;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A job's specification, checked and with all defaults put in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSpec {
    /// Who submitted it.
    pub user: String,
    /// Higher is served first.
    pub priority: i64,
    /// How many of its tasks must have a place for any to be placed.
    pub min_available: u32,
    /// The same per role.
    pub min_task_member: BTreeMap<String, u32>,
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
    /// Free texts.
    pub labels: BTreeMap<String, String>,
    /// Labels that the host must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints that are tolerated.
    pub tolerations: Vec<Toleration>,
}

impl JobSpec {
    /// How many tasks it has.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.tasks.iter().map(|role| u64::from(role.count)).sum()
    }

    /// The role of a name.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&RoleSpec> {
        self.tasks.iter().find(|role| role.role == name)
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
    /// Whether its tasks ask for nothing but a place.
    #[must_use]
    pub fn is_best_effort(&self) -> bool {
        self.charged.keys().all(|class| class == crate::amounts::TASK_CLASS)
    }
}

/// A queue's specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct QueueSpec {
    /// The queue above it; none for the root.
    pub parent: Option<String>,
    /// Higher is served first.
    pub priority: i64,
}

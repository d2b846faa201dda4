//! A job's disruption budget, as it is stated.

use crate::session::{Budget, TaskCount};
use serde::{Deserialize, Serialize};
use stowplan_scheduler::fields::FieldErrors;
use utoipa::ToSchema;

/// How many tasks of a job others may take off their hosts (plugins pdb and
/// tdm). One of the two is given: a number of tasks, or a part of all such as
/// `20%`, rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DisruptionBudget {
    /// So many may be without a host at a time, for whatever reason.
    #[schema(value_type = Option<String>, example = "20%")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<TaskCount>,
    /// So many must go on running.
    #[schema(value_type = Option<String>, example = "8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_available: Option<TaskCount>,
}

impl DisruptionBudget {
    /// The budget; none when none is stated.
    #[must_use]
    pub fn budget(self) -> Option<Budget> {
        let least = self.min_available.map(Budget::MinAvailable);
        least.or(self.max_unavailable.map(Budget::MaxUnavailable))
    }

    pub(super) fn check(self, errors: &mut FieldErrors) {
        let both = self.max_unavailable.is_some() == self.min_available.is_some();
        if both {
            errors.add("disruption_budget", &self, "one of max_unavailable and min_available");
        }
    }
}

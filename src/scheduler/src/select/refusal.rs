//! No valid host: an ordinary answer.

use std::fmt;

use serde::{Deserialize, Serialize};
use stowplan_model::Uuid;

use super::decide::Stage;

/// That there is no valid host, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The decision that explains it; null when none is recorded.
    pub decision_id: Option<Uuid>,
    /// Where it ended.
    pub stage: Stage,
    /// The first reasons, the most telling first.
    pub reasons: Vec<String>,
}

impl Refusal {
    /// That there is no valid host, for these reasons.
    #[must_use]
    pub fn sentence(reasons: &[String]) -> String {
        match reasons {
            [] => "No valid host was found.".to_owned(),
            reasons => format!("No valid host was found. {}", reasons.join("; ")),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Self::sentence(&self.reasons))
    }
}

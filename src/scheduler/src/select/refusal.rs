//! No valid host: an ordinary answer.

use std::fmt;

use serde::Serialize;
use stowplan_model::Uuid;

/// That there is no valid host, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The decision that explains it; null when none is recorded.
    pub decision_id: Option<Uuid>,
    /// The first reasons, the most telling first.
    pub reasons: Vec<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("No valid host was found.")?;
        for (place, reason) in self.reasons.iter().enumerate() {
            write!(f, "{} {reason}", if place == 0 { "" } else { ";" })?;
        }
        Ok(())
    }
}

//! A service's row as the service of a report.

use stowplan_model::host::ServiceReport;
use stowplan_model::{Micros, Uuid};

use crate::hosts::BINARY;

/// A row of `services`, of a program that runs servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Its uuid.
    pub uuid: Option<Uuid>,
    /// Takes no new servers.
    pub disabled: bool,
    /// Why.
    pub disabled_reason: Option<String>,
    /// Declared down.
    pub forced_down: bool,
    /// Its version.
    pub version: i64,
    /// When it last said that it lives.
    pub last_seen_up: Option<Micros>,
    /// When the row was made.
    pub created_at: Option<Micros>,
}

impl Service {
    /// The time its age is counted from: last seen, else made; else it has never
    /// lived.
    #[must_use]
    pub fn alive_since(&self) -> Micros {
        self.last_seen_up.or(self.created_at).unwrap_or(Micros(0))
    }

    /// The service of a report.
    #[must_use]
    pub fn report(&self) -> ServiceReport {
        ServiceReport {
            uuid: self.uuid,
            binary: Some(BINARY.to_owned()),
            version: self.version,
            disabled: self.disabled,
            disabled_reason: self.disabled_reason.clone(),
            forced_down: self.forced_down,
            last_seen_up: Some(self.alive_since()),
            created_at: self.created_at,
            zone: None,
        }
    }

    /// Whether another row says the same but for when it was last seen.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        *self == Self { last_seen_up: self.last_seen_up, ..other.clone() }
    }
}

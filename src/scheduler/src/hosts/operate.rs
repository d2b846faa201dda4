//! What operators say of a service: out of scheduling, why, declared down.

use stowplan_ledger::rows::ServiceRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Micros;

use super::service::{BINARY, ServiceKey, find_service};
use super::status;
use crate::draft::Draft;
use crate::error::SchedulerError;

/// What is to change of a service; what is none stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceUpdate {
    /// Whether it takes new servers.
    pub status: Option<ServiceStatus>,
    /// Whether it is declared down.
    pub forced_down: Option<bool>,
}

/// Whether a service takes new servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceStatus {
    /// It does.
    Enabled,
    /// It does not, for this reason if one is given.
    Disabled(Option<String>),
}

/// Changes a service. Where it is disabled or enabled, so are the root
/// providers of its host's nodes, by their trait. A report changes this again
/// only when it says something else than the one before.
///
/// # Errors
/// When there is no such service, or when it is no nova-compute.
pub fn update_service(
    image: &Image,
    key: &ServiceKey,
    update: &ServiceUpdate,
    now: Micros,
) -> Result<(Change, ServiceRow), SchedulerError> {
    let before = find_service(image, key)?;
    if before.binary != BINARY {
        return Err(SchedulerError::ServiceKind {
            host: before.host.clone(),
            binary: before.binary.clone(),
        });
    }
    let mut after = ServiceRow::clone(before);
    match &update.status {
        Some(ServiceStatus::Enabled) => (after.disabled, after.disabled_reason) = (false, None),
        Some(ServiceStatus::Disabled(reason)) => {
            (after.disabled, after.disabled_reason) = (true, reason.clone());
        }
        None => {}
    }
    after.forced_down = update.forced_down.unwrap_or(before.forced_down);
    let mut draft = Draft::new(image, "service.update", now);
    if update.status.is_some() {
        // Also where the row says so already: clients of the Placement API may
        // have changed the trait.
        status::toggle_nodes(&mut draft, &after.host, None, after.disabled)?;
    }
    if after != **before {
        after.updated = now;
        draft.push(Record::Service(after.clone()));
    }
    Ok((draft.finish(), after))
}

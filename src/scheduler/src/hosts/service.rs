//! The service of a host: what its report says, beside what operators say.

use std::sync::Arc;

use stowplan_ledger::Image;
use stowplan_ledger::rows::ServiceRow;
use stowplan_model::host::ServiceReport;
use stowplan_model::{Micros, Uuid};

use super::report::NAMESPACE;
use crate::error::SchedulerError;

/// The program of a service that does not name it: the one that runs servers.
pub use stowplan_ledger::rows::COMPUTE_BINARY as BINARY;

/// How a service is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceKey {
    /// By its uuid.
    Uuid(Uuid),
    /// By its integer id.
    Id(i64),
    /// By its host and its program.
    On {
        /// The host.
        host: String,
        /// The program.
        binary: String,
    },
}

impl std::fmt::Display for ServiceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Uuid(uuid) => uuid.fmt(f),
            Self::Id(id) => id.fmt(f),
            Self::On { host, binary } => write!(f, "{binary} on host {host}"),
        }
    }
}

/// The service of that name.
///
/// # Errors
/// When there is none.
pub fn find_service<'a>(
    image: &'a Image,
    key: &ServiceKey,
) -> Result<&'a Arc<ServiceRow>, SchedulerError> {
    let found = match key {
        ServiceKey::Uuid(uuid) => image.services.get(*uuid),
        ServiceKey::Id(id) => image.services.by_id(*id),
        ServiceKey::On { host, binary } => {
            image.services.iter().find(|row| row.host == *host && row.binary == *binary)
        }
    };
    found.ok_or_else(|| SchedulerError::ServiceNotFound(key.to_string()))
}

/// The service row after a report. What operators have set (disabled, why,
/// declared down) stands until a report says something else than the host's
/// report before: a host that repeats itself does not enable itself again.
///
/// # Errors
/// When its uuid is that of another host's service.
pub(super) fn after_report(
    image: &Image,
    host: &str,
    before: Option<&ServiceReport>,
    said: &ServiceReport,
    now: Micros,
) -> Result<ServiceRow, SchedulerError> {
    let silent = ServiceReport::default();
    let Some(row) = image.service_of(host) else {
        let row = new_row(image, host, said, now);
        return not_anothers(image, host, row.uuid).map(|()| row);
    };
    said.uuid.map_or(Ok(()), |uuid| not_anothers(image, host, uuid))?;
    let before = before.unwrap_or(&silent);
    let mut after = ServiceRow::clone(row);
    if said.disabled != before.disabled {
        after.disabled = said.disabled;
    }
    if said.disabled_reason != before.disabled_reason {
        after.disabled_reason.clone_from(&said.disabled_reason);
    }
    if said.forced_down != before.forced_down {
        after.forced_down = said.forced_down;
    }
    if said.zone != before.zone {
        after.zone.clone_from(&said.zone);
    }
    if let Some(binary) = &said.binary {
        after.binary.clone_from(binary);
    }
    if said.version > 0 {
        after.version = said.version;
    }
    if after != **row {
        after.updated = now;
    }
    Ok(after)
}

/// That no other host's service has this uuid: its row would become this host's.
fn not_anothers(image: &Image, host: &str, uuid: Uuid) -> Result<(), SchedulerError> {
    match image.services.get(uuid) {
        Some(row) if row.host != host => Err(SchedulerError::ServiceUuidTaken {
            uuid,
            host: row.host.clone(),
            binary: row.binary.clone(),
        }),
        _ => Ok(()),
    }
}

fn new_row(image: &Image, host: &str, said: &ServiceReport, now: Micros) -> ServiceRow {
    let binary = said.binary.clone().unwrap_or_else(|| BINARY.to_owned());
    let derived = || Uuid::new_v5(&NAMESPACE, format!("service/{host}/{binary}").as_bytes());
    ServiceRow {
        id: image.services.next_id(),
        uuid: said.uuid.unwrap_or_else(derived),
        host: host.to_owned(),
        binary: binary.clone(),
        zone: said.zone.clone(),
        version: said.version,
        disabled: said.disabled,
        disabled_reason: said.disabled_reason.clone(),
        forced_down: said.forced_down,
        last_seen: Some(said.last_seen_up.unwrap_or(now)),
        created: said.created_at.unwrap_or(now),
        updated: now,
    }
}

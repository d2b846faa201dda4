//! Server groups made by users: as many as their project may have, with rules
//! that the compute services know.

use stowplan_ledger::rows::ServerGroupRow;
use stowplan_ledger::{Change, Image};
use stowplan_model::{Micros, Uuid};

use super::write::{NewGroup, create_group};
use crate::error::SchedulerError;
use crate::hosts::BINARY;

/// The version of nova-compute that knows `max_server_per_host`.
const KNOWS_RULES: i64 = 33;

/// Makes a server group if its project has fewer than `limit` of them; a
/// negative limit is none. It is counted in the mutation that makes the group,
/// so that many callers at once do not get beyond it.
///
/// # Errors
/// As [`create_group`]; and when the project has as many groups as it may, or
/// when a compute service is too old for the rules.
pub fn create_group_within(
    image: &Image,
    uuid: Uuid,
    new: &NewGroup,
    limit: i64,
    now: Micros,
) -> Result<(Change, ServerGroupRow), SchedulerError> {
    let made = create_group(image, uuid, new, now)?;
    let project = &made.1.project;
    if let Ok(most) = usize::try_from(limit) {
        let count = image.server_groups.iter().filter(|row| row.project == *project).count();
        if count >= most {
            return Err(SchedulerError::GroupQuota { project: project.clone(), count, limit });
        }
    }
    known_rules(image, made.1.max_server_per_host)?;
    Ok(made)
}

/// That every compute service knows the rules. One that does not say its
/// version is no reason to refuse.
fn known_rules(image: &Image, limit: Option<i64>) -> Result<(), SchedulerError> {
    let Some(limit) = limit.filter(|limit| *limit > 1) else { return Ok(()) };
    let services = image.services.iter().filter(|row| row.binary == BINARY && row.version > 0);
    match services.min_by_key(|row| (row.version, row.id)) {
        Some(oldest) if oldest.version < KNOWS_RULES => Err(SchedulerError::GroupRulesTooNew {
            limit,
            host: oldest.host.clone(),
            version: oldest.version,
            needed: KNOWS_RULES,
        }),
        _ => Ok(()),
    }
}

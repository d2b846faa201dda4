//! The group in force: what the request says of it and what the ledger knows.

use stowplan_engine::{HostTable, HostView};
use stowplan_ledger::Image;
use stowplan_ledger::rows::ServerGroupRow;
use stowplan_model::Uuid;
use stowplan_model::request::{GroupRules, InstanceGroup};

use super::request::GroupRef;
use crate::error::SchedulerError;

/// The group that a request's servers join, as of one image: the members and
/// hosts that the request names together with the ledger's own members and
/// where they are, those placed a moment ago included. The servers themselves
/// are members, too: those of one request heed each other.
///
/// A group that the request brings along need not be one of the ledger: as at the
/// peer, what the request says of it is what counts, and no group is made of it, for
/// nobody would tell when it is gone. Its members that were placed here are known by
/// their claims, so that two requests which do not know of each other's servers keep
/// the policy all the same.
///
/// # Errors
/// A group that the ledger does not know, where only its uuid is given.
pub(super) fn in_force(
    image: &Image,
    group: &GroupRef,
    servers: &[Uuid],
) -> Result<InstanceGroup, SchedulerError> {
    let mut merged = match group {
        GroupRef::Known(uuid) => {
            let row = image.server_groups.get(*uuid);
            let row = row.ok_or_else(|| SchedulerError::GroupNotFound(uuid.to_string()))?;
            from_row(row)
        }
        GroupRef::Inline(group) => {
            let mut merged = InstanceGroup::clone(group);
            match group.uuid.map(|uuid| (uuid, image.server_groups.get(uuid))) {
                Some((_, Some(row))) => {
                    let known = from_row(row);
                    merged.members.extend(known.members);
                    merged.policy = merged.policy.or(known.policy);
                    merged.rules = merged.rules.or(known.rules);
                }
                Some((uuid, None)) => {
                    let placed = image.consumers.placed_in(uuid);
                    merged.members.extend(placed.map(|member| member.uuid));
                }
                None => {}
            }
            merged
        }
    };
    merged.members.sort_unstable();
    merged.members.dedup();
    let there = hosts_of(image.hosts.table(), &merged.members);
    merged.hosts.extend(there);
    merged.members.extend(servers);
    merged.members.sort_unstable();
    merged.members.dedup();
    Ok(merged)
}

/// The uuid of the group that the servers join, of the ledger or not.
pub(super) fn joined(group: Option<&GroupRef>) -> Option<Uuid> {
    match group? {
        GroupRef::Known(uuid) => Some(*uuid),
        GroupRef::Inline(group) => group.uuid,
    }
}

fn from_row(row: &ServerGroupRow) -> InstanceGroup {
    InstanceGroup {
        uuid: Some(row.uuid),
        policy: Some(row.policy.clone()),
        policies: None,
        members: row.members.clone(),
        hosts: Vec::new(),
        rules: row.max_server_per_host.map(|limit| GroupRules { max_server_per_host: Some(limit) }),
    }
}

fn hosts_of(table: &HostTable, members: &[Uuid]) -> Vec<String> {
    let places = members.iter().flat_map(|member| table.hosts_with(*member));
    let mut names: Vec<String> = places.map(|host| table.facts(*host).host.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

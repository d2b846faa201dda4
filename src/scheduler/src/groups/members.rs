//! Who is in a server group, and where.

use std::collections::BTreeSet;

use stowplan_engine::HostView;
use stowplan_ledger::rows::ServerGroupRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

use super::find;
use crate::error::SchedulerError;

/// Members without allocations and without a host that a group keeps: a
/// server in a migration is one for a while, one that was deleted for ever.
const MAX_IDLE: usize = 100;

/// The members that are servers now: those that hold allocations or that a
/// host reports.
pub fn living_members<'a>(
    image: &'a Image,
    group: &'a ServerGroupRow,
) -> impl Iterator<Item = Uuid> + 'a {
    group.members.iter().copied().filter(|member| lives(image, *member))
}

/// Whether a member holds allocations, or is on a host by that host's word.
pub(crate) fn lives(image: &Image, member: Uuid) -> bool {
    image.consumers.get(member).is_some() || !image.hosts.table().hosts_with(member).is_empty()
}

/// The row of a group after these servers joined it; the oldest members that
/// are no servers any more give way when they are many.
#[must_use]
pub fn join(
    image: &Image,
    group: &ServerGroupRow,
    servers: &[Uuid],
    now: Micros,
) -> ServerGroupRow {
    let mut row = ServerGroupRow { updated: now, ..group.clone() };
    let idle = row.members.iter().filter(|member| !lives(image, **member)).count();
    let mut surplus = idle.saturating_sub(MAX_IDLE);
    let joining: BTreeSet<Uuid> = servers.iter().copied().collect();
    row.members.retain(|member| {
        let goes = surplus > 0 && !joining.contains(member) && !lives(image, *member);
        surplus -= usize::from(goes);
        !goes
    });
    let mut there: BTreeSet<Uuid> = row.members.iter().copied().collect();
    row.members.extend(servers.iter().filter(|server| there.insert(**server)));
    row
}

/// Takes a server out of a group.
///
/// # Errors
/// When there is no such group.
pub fn leave(
    image: &Image,
    key: &str,
    server: Uuid,
    now: Micros,
) -> Result<(Change, ServerGroupRow), SchedulerError> {
    let row = find(image, key)?;
    let mut after = ServerGroupRow::clone(row);
    after.members.retain(|member| *member != server);
    if after.members.len() == row.members.len() {
        return Ok((Change::nothing(), after));
    }
    after.updated = now;
    let mut change = Change::new("server_group.remove_member");
    change.push(Record::ServerGroup(after.clone()));
    Ok((change, after))
}

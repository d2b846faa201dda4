//! Hosts join and leave host aggregates, and their providers the mirrored
//! Placement aggregates.

use std::collections::BTreeMap;

use stowplan_ledger::rows::HostAggregateRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

use super::{find, rules};
use crate::draft::{Draft, Shape, aggregates_of};
use crate::error::SchedulerError;
use crate::fields::FieldErrors;
use crate::hosts::check_name;

/// An aggregate after a host joined it.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The aggregate.
    pub row: HostAggregateRow,
    /// Whether the host was not in it before.
    pub added: bool,
}

/// Adds a host (by name, all its nodes). A host that nobody has reported yet
/// may be added: it joins when it is. Adding it again changes nothing.
///
/// # Errors
/// When there is no such aggregate, when the name cannot be a host's, or when
/// the host would be in two zones or change its zone under its servers.
pub fn add_host(
    image: &Image,
    key: &str,
    host: &str,
    now: Micros,
) -> Result<(Change, Joined), SchedulerError> {
    let row = find(image, key)?;
    let mut errors = FieldErrors::default();
    check_name(&mut errors, "host", host);
    errors.into_result(())?;
    if row.hosts.iter().any(|there| there == host) {
        let row = HostAggregateRow::clone(row);
        return Ok((Change::nothing(), Joined { row, added: false }));
    }
    rules::one_zone(image, host, None, &row.metadata, row.id)?;
    let mut after = HostAggregateRow { updated: now, ..HostAggregateRow::clone(row) };
    after.hosts.push(host.to_owned());
    let change = with_mirror(image, "aggregate.add_host", &after, &[(host, true)], now)?;
    Ok((change, Joined { row: after, added: true }))
}

/// Adds a host as the compute API does: one that is known, and only once.
///
/// # Errors
/// As [`add_host`]; and when nobody has reported the host, or when it is in the
/// aggregate already.
pub fn add_known_host(
    image: &Image,
    key: &str,
    host: &str,
    now: Micros,
) -> Result<(Change, HostAggregateRow), SchedulerError> {
    let row = find(image, key)?;
    if image.hosts.nodes_of(host).next().is_none() {
        return Err(SchedulerError::HostNotFound { host: host.to_owned() });
    }
    if row.hosts.iter().any(|there| there == host) {
        return Err(SchedulerError::InAggregate { host: host.to_owned(), name: row.name.clone() });
    }
    let (change, joined) = add_host(image, key, host, now)?;
    Ok((change, joined.row))
}

/// Takes a host out.
///
/// # Errors
/// When there is no such aggregate, when the host is not in it, or when the
/// host's zone would change under its servers.
pub fn remove_host(
    image: &Image,
    key: &str,
    host: &str,
    now: Micros,
) -> Result<(Change, HostAggregateRow), SchedulerError> {
    let row = find(image, key)?;
    if !row.hosts.iter().any(|there| there == host) {
        return Err(SchedulerError::NotInAggregate {
            host: host.to_owned(),
            name: row.name.clone(),
        });
    }
    rules::one_zone(image, host, Some(row), &BTreeMap::new(), row.id)?;
    let mut after = HostAggregateRow { updated: now, ..HostAggregateRow::clone(row) };
    after.hosts.retain(|there| there != host);
    let change = with_mirror(image, "aggregate.remove_host", &after, &[(host, false)], now)?;
    Ok((change, after))
}

/// The change of a row, with the memberships of the providers of these hosts.
pub(super) fn with_mirror(
    image: &Image,
    kind: &str,
    row: &HostAggregateRow,
    hosts: &[(&str, bool)],
    now: Micros,
) -> Result<Change, SchedulerError> {
    let mut draft = Draft::new(image, kind, now);
    draft.push(Record::HostAggregate(row.clone()));
    for (host, member) in hosts {
        for node in image.hosts.nodes_of(host) {
            mirror(&mut draft, node.row.uuid, &node.row.node, row.uuid, *member)?;
        }
    }
    Ok(draft.finish())
}

fn mirror(
    draft: &mut Draft<'_>,
    uuid: Uuid,
    node: &str,
    aggregate: Uuid,
    member: bool,
) -> Result<(), SchedulerError> {
    let Some(at) = draft.image.providers.find(uuid) else { return Ok(()) };
    let mut aggregates = aggregates_of(draft.image, at);
    if member {
        aggregates.insert(aggregate);
    } else {
        aggregates.remove(&aggregate);
    }
    draft.shape(Shape {
        uuid,
        name: node.to_owned(),
        parent: None,
        inventories: None,
        traits: None,
        aggregates: Some(aggregates),
    })
}

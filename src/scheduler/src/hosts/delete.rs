//! A host leaves: with its nodes' provider trees, and with its service when no
//! node is left.

use std::collections::BTreeSet;

use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::rows::{HostAggregateRow, ServiceRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::names::inventories;
use stowplan_placement::providers::subtree;

use super::service::{BINARY, ServiceKey, find_service};
use super::{children, find};
use crate::draft::Draft;
use crate::error::SchedulerError;

/// Consumers that a refusal names.
const NAMED: usize = 20;

/// A host that has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Uuid of its compute node.
    pub uuid: Uuid,
    /// Resource providers that went with it.
    pub providers: usize,
}

/// Takes a host out: its row, the provider tree of its node, and with its last
/// node its service and its memberships of host aggregates.
///
/// # Errors
/// When there is no such host, when it has several nodes and none is named, when
/// anybody holds something of its tree, or when its report has servers.
pub fn delete_host(
    image: &Image,
    host: &str,
    node: Option<&str>,
    now: Micros,
) -> Result<(Change, Deleted), SchedulerError> {
    let found = find(image, host, node)?;
    let holders = servers(image, found);
    if !holders.is_empty() {
        return Err(SchedulerError::HostInUse {
            host: found.row.node.clone(),
            count: holders.len(),
            first: first_of(&holders),
        });
    }
    let mut change = Change::new("host.delete");
    let providers = node_goes(image, &mut change, found);
    if image.hosts.nodes_of(host).nth(1).is_none() {
        service_goes(image, &mut change, host, now, |_| true);
    }
    Ok((change, Deleted { uuid: found.row.uuid, providers }))
}

/// Takes a service out, and with a nova-compute its host: all nodes with their
/// provider trees, and its memberships of host aggregates.
///
/// # Errors
/// When there is no such service, or when the host has servers or anybody
/// holds something of it, as a server in a migration does.
pub fn delete_service(
    image: &Image,
    key: &ServiceKey,
    now: Micros,
) -> Result<(Change, ServiceRow), SchedulerError> {
    let service = find_service(image, key)?;
    let gone = ServiceRow::clone(service);
    let mut change = Change::new("service.delete");
    if service.binary != BINARY {
        change.push(Record::ServiceGone(service.uuid));
        return Ok((change, gone));
    }
    let nodes = || image.hosts.nodes_of(&service.host);
    let there: BTreeSet<Uuid> = nodes().flat_map(|node| servers(image, node)).collect();
    if !there.is_empty() {
        return Err(SchedulerError::ServiceInUse {
            host: service.host.clone(),
            count: there.len(),
            first: first_of(&there),
        });
    }
    for node in nodes() {
        node_goes(image, &mut change, node);
    }
    service_goes(image, &mut change, &service.host, now, |_| true);
    Ok((change, gone))
}

/// Takes a node out that its source has no more, whoever holds something there. Of
/// its providers those go that its reports made and nobody uses; what clients of the
/// Placement API made they look after themselves.
///
/// # Errors
/// None that a node could meet: nothing new is written.
pub fn forget_host(
    image: &Image,
    uuid: Uuid,
    now: Micros,
) -> Result<(Change, bool), SchedulerError> {
    let Some(node) = image.hosts.get(uuid) else { return Ok((Change::nothing(), false)) };
    let mut draft = Draft::new(image, "host.forget", now);
    children::retire(&mut draft, uuid, &node.row.node, &BTreeSet::new())?;
    let mut change = draft.finish();
    let retired = change.records.iter().filter(|it| matches!(it, Record::ProviderGone(_))).count();
    if let Some(root) = image.providers.find(uuid)
        && image.providers.tree_of(root).len() == 1 + retired
        && inventories(image, root).is_empty()
        && image.consumers.of_provider(root).next().is_none()
    {
        change.push(Record::ProviderGone(uuid));
    }
    change.push(Record::HostGone(uuid));
    if image.hosts.nodes_of(&node.row.host).nth(1).is_none() {
        service_goes(image, &mut change, &node.row.host, now, |row| row.external_id.is_none());
    }
    Ok((change, true))
}

/// A node goes with its provider tree, of which the count is given.
fn node_goes(image: &Image, change: &mut Change, node: &Host) -> usize {
    let uuid = node.row.uuid;
    let mut tree = match image.providers.find(uuid) {
        Some(at) => subtree(image, at),
        None => Vec::new(),
    };
    tree.reverse();
    let providers = tree.len();
    for at in tree {
        change.push(Record::ProviderGone(image.providers.uuid(at)));
    }
    change.push(Record::HostGone(uuid));
    providers
}

/// The services of a host go, and the host leaves those of its aggregates that are
/// ours to change.
fn service_goes(
    image: &Image,
    change: &mut Change,
    host: &str,
    now: Micros,
    is_ours: impl Fn(&HostAggregateRow) -> bool,
) {
    for service in image.services.iter().filter(|service| service.host == host) {
        change.push(Record::ServiceGone(service.uuid));
    }
    for id in image.hosts.aggregates_of(host) {
        let Some(row) = image.host_aggregates.by_id(id).filter(|row| is_ours(row)) else {
            continue;
        };
        let hosts = row.hosts.iter().filter(|name| *name != host).cloned().collect();
        let row = HostAggregateRow { hosts, updated: now, ..HostAggregateRow::clone(row) };
        change.push(Record::HostAggregate(row));
    }
}

/// Who is on a node: consumers that hold something of its tree, and servers that
/// its report has.
fn servers(image: &Image, node: &Host) -> BTreeSet<Uuid> {
    let root = image.providers.find(node.row.uuid);
    let tree = root.map_or(&[][..], |root| image.providers.tree_of(root)).iter();
    let holders = tree.flat_map(|&at| image.consumers.of_provider(at));
    let reported = node.row.report.instances.keys().copied();
    holders.map(|consumer| consumer.uuid).chain(reported).collect()
}

fn first_of(holders: &BTreeSet<Uuid>) -> Vec<String> {
    holders.iter().take(NAMED).map(Uuid::to_string).collect()
}

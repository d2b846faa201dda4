//! A host leaves: with its node's provider tree, and with its service when it
//! was the last node.

use std::collections::BTreeSet;

use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::providers::subtree;

use super::find;
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
/// When there is no such host, when it has several nodes and none is named, or
/// when anybody holds something of its tree.
pub fn delete_host(
    image: &Image,
    host: &str,
    node: Option<&str>,
    now: Micros,
) -> Result<(Change, Deleted), SchedulerError> {
    let found = find(image, host, node)?;
    let uuid = found.row.uuid;
    check_use(image, found)?;
    let mut change = Change::new("host.delete");
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
    if image.hosts.nodes_of(host).nth(1).is_none() {
        let services = image.services.iter().filter(|service| service.host == host);
        for service in services {
            change.push(Record::ServiceGone(service.uuid));
        }
        for id in image.hosts.aggregates_of(host) {
            let Some(row) = image.host_aggregates.by_id(id) else { continue };
            let hosts = row.hosts.iter().filter(|name| *name != host).cloned().collect();
            let row = HostAggregateRow { hosts, updated: now, ..HostAggregateRow::clone(row) };
            change.push(Record::HostAggregate(row));
        }
    }
    Ok((change, Deleted { uuid, providers }))
}

fn check_use(image: &Image, host: &Host) -> Result<(), SchedulerError> {
    let Some(root) = image.providers.find(host.row.uuid) else { return Ok(()) };
    let tree = image.providers.tree_of(root).iter();
    let holders: BTreeSet<Uuid> = tree
        .flat_map(|&at| image.consumers.of_provider(at))
        .map(|consumer| consumer.uuid)
        .collect();
    if holders.is_empty() {
        return Ok(());
    }
    Err(SchedulerError::HostInUse {
        host: host.row.node.clone(),
        count: holders.len(),
        first: holders.iter().take(NAMED).map(Uuid::to_string).collect(),
    })
}

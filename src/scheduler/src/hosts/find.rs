//! A host by its address: the host's name and, where there are several, the
//! node's.

use std::sync::Arc;

use stowplan_ledger::Image;
use stowplan_ledger::image::hosts::Host;

use crate::error::SchedulerError;

/// The host (and node) of that address. Without a node it must have one only.
///
/// # Errors
/// When there is no such host or node, or when it has several and none is
/// named.
pub fn find<'a>(
    image: &'a Image,
    host: &str,
    node: Option<&str>,
) -> Result<&'a Arc<Host>, SchedulerError> {
    if let Some(found) = node.and_then(|node| image.hosts.find(host, node)) {
        return Ok(found);
    }
    let mut all = image.hosts.nodes_of(host);
    let (first, second) = (all.next(), all.next());
    match (first, second, node) {
        (None, ..) => Err(SchedulerError::HostNotFound { host: host.to_owned() }),
        (Some(_), _, Some(node)) => Err(SchedulerError::NodeNotFound {
            host: host.to_owned(),
            node: node.to_owned(),
            nodes: nodes(image, host),
        }),
        (Some(only), None, None) => Ok(only),
        (Some(_), Some(_), None) => {
            Err(SchedulerError::SeveralNodes { host: host.to_owned(), nodes: nodes(image, host) })
        }
    }
}

/// The names of a host's nodes, separated by commas.
#[must_use]
pub fn nodes(image: &Image, host: &str) -> String {
    let names: Vec<&str> = image.hosts.nodes_of(host).map(|node| node.row.node.as_str()).collect();
    names.join(", ")
}

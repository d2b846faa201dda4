//! How long the lists of a request may be: what nobody means would take the memory
//! and the time of all others.

use super::request::{GroupRef, SelectRequest};
use crate::fields::FieldErrors;

/// Request groups of one request at most, PCI devices counted one by one where
/// Placement knows them.
pub(super) const MAX_GROUPS: usize = 256;
/// Names of hosts, servers or aggregates in one list at most.
pub(super) const MAX_LISTED: usize = 10_000;
/// Extra specs of a flavor, keys of image properties and hints at most.
const MAX_KEYS: usize = 1000;
/// Networks and ports of a server at most.
pub(crate) const MAX_NETWORKS: usize = 256;
/// Segments of one network at most.
const MAX_SEGMENTS: usize = 1000;
/// NUMA cells of a server at most.
const MAX_CELLS: usize = 64;

/// How long the lists of a request may be.
pub(super) fn check_lists(errors: &mut FieldErrors, asked: &SelectRequest) {
    let destination = asked.requested_destination.as_ref();
    let aggregates =
        |list: Option<&Option<Vec<String>>>| list.and_then(Option::as_ref).map_or(0, Vec::len);
    let specs = asked.flavor.as_ref().map_or(0, |flavor| flavor.extra_specs.len());
    let group = match &asked.group {
        Some(GroupRef::Inline(group)) => (group.members.len(), group.hosts.len()),
        Some(GroupRef::Known(_)) | None => (0, 0),
    };
    let hints: usize = asked.scheduler_hints.0.values().map(Vec::len).sum();
    let cells = asked.numa_topology.as_ref().map_or(0, |topology| topology.cells.len());
    let networks = asked.network_metadata.as_ref().map_or(0, |networks| networks.physnets.len());
    let of_destination = "requested_destination";
    for (field, len, most) in [
        ("ignore_hosts".to_owned(), asked.ignore_hosts.len(), MAX_LISTED),
        ("force_hosts".to_owned(), asked.force_hosts.len(), MAX_LISTED),
        ("force_nodes".to_owned(), asked.force_nodes.len(), MAX_LISTED),
        ("as_if_released".to_owned(), asked.as_if_released.len(), MAX_LISTED),
        ("group.members".to_owned(), group.0, MAX_LISTED),
        ("group.hosts".to_owned(), group.1, MAX_LISTED),
        ("scheduler_hints".to_owned(), hints, MAX_LISTED),
        (
            format!("{of_destination}.aggregates"),
            aggregates(destination.map(|to| &to.aggregates)),
            MAX_KEYS,
        ),
        (
            format!("{of_destination}.forbidden_aggregates"),
            aggregates(destination.map(|to| &to.forbidden_aggregates)),
            MAX_KEYS,
        ),
        ("flavor.extra_specs".to_owned(), specs, MAX_KEYS),
        ("scheduler_hints".to_owned(), asked.scheduler_hints.0.len(), MAX_KEYS),
        ("network_metadata.physnets".to_owned(), networks, MAX_KEYS),
        ("numa_topology.cells".to_owned(), cells, MAX_CELLS),
        ("requested_resources".to_owned(), asked.requested_resources.len(), MAX_GROUPS),
        ("pci_requests".to_owned(), asked.pci_requests.len(), MAX_GROUPS),
        ("requested_networks".to_owned(), asked.requested_networks.len(), MAX_NETWORKS),
        ("same_subtree".to_owned(), asked.same_subtree.len(), MAX_GROUPS),
        ("root_required".to_owned(), asked.root_required.len(), MAX_KEYS),
        ("root_forbidden".to_owned(), asked.root_forbidden.len(), MAX_KEYS),
    ] {
        errors.require_few(field, len, most);
    }
    for (place, group) in asked.requested_resources.iter().enumerate() {
        let field = |name: &str| format!("requested_resources[{place}].{name}");
        let of_sets: usize = group.aggregates.iter().map(Vec::len).sum();
        let sets = group.aggregates.len().max(of_sets);
        errors.require_few(field("aggregates"), sets, MAX_KEYS);
        let forbidden = group.forbidden_aggregates.len();
        errors.require_few(field("forbidden_aggregates"), forbidden, MAX_KEYS);
    }
    for (place, network) in asked.requested_networks.iter().enumerate() {
        let segments = network.segments.as_ref().map_or(0, Vec::len);
        errors.require_few(format!("requested_networks[{place}].segments"), segments, MAX_SEGMENTS);
    }
    for (place, set) in asked.same_subtree.iter().enumerate() {
        errors.require_few(format!("same_subtree[{place}]"), set.len(), MAX_GROUPS);
    }
}

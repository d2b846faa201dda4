//! Host aggregates: hosts with metadata, mirrored into Placement.

use std::collections::BTreeSet;

use stowplan_ledger::Image;
use stowplan_model::Uuid;

/// The Placement aggregates that mirror the host aggregates of a host.
pub(crate) fn mirrored(image: &Image, host: &str) -> BTreeSet<Uuid> {
    let ids = image.hosts.aggregates_of(host);
    ids.filter_map(|id| image.host_aggregates.by_id(id)).map(|row| row.uuid).collect()
}

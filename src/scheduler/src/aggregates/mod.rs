//! Host aggregates: hosts with metadata, mirrored into Placement.
//!
//! The uuid of a host aggregate is also that of a Placement aggregate which
//! the root providers of its hosts are in. Both change in one mutation, and a
//! host that is first reported later joins then.

mod members;
mod rules;
mod write;

pub use members::{Joined, add_host, add_known_host, remove_host};
pub(crate) use rules::check;
pub use write::{
    AggregateUpdate, MetadataUpdate, NewAggregate, create_aggregate, delete_aggregate,
    read_new_aggregate, read_update, update_aggregate,
};

use std::collections::BTreeSet;
use std::sync::Arc;

use stowplan_ledger::Image;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_model::Uuid;

use crate::error::SchedulerError;

/// The host aggregate of that integer id or uuid.
///
/// # Errors
/// When there is none.
pub fn find<'a>(image: &'a Image, key: &str) -> Result<&'a Arc<HostAggregateRow>, SchedulerError> {
    let found = match (key.parse::<i64>(), Uuid::parse_str(key)) {
        (Ok(id), _) => image.host_aggregates.by_id(id),
        (Err(_), Ok(uuid)) => image.host_aggregates.get(uuid),
        (Err(_), Err(_)) => None,
    };
    found.ok_or_else(|| SchedulerError::AggregateNotFound(key.to_owned()))
}

/// The Placement aggregates that mirror the host aggregates of a host.
pub(crate) fn mirrored(image: &Image, host: &str) -> BTreeSet<Uuid> {
    let ids = image.hosts.aggregates_of(host);
    let rows = ids.filter_map(|id| image.host_aggregates.by_id(id));
    rows.filter(|row| row.external_id.is_none()).map(|row| row.uuid).collect()
}

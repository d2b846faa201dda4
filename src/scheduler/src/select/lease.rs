//! Leases of claims: a server that nobody has heard of in time gives back what it
//! was given (`[scheduler] claim_lease`).
//!
//! A claim is confirmed by a report of its host that lists the server, or by
//! whoever asked for it. Only what is as it was claimed is ever released: a
//! consumer that somebody has changed since is theirs, and one that held something
//! before has no lease.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use stowplan_ledger::image::consumers::Consumer;
use stowplan_ledger::rows::{ConsumerRow, Lease, Origin, ServerGroupRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::claims::{ConsumerClaim, ConsumerGeneration, allocation_records};

use crate::error::SchedulerError;

/// Claims that one mutation releases at most.
const PIECE: usize = 1000;

/// Gives new consumers among the records of a claim a lease, if there are any.
pub(super) fn lend(image: &Image, records: &mut [Record], seconds: u32, now: Micros) {
    if seconds == 0 {
        return;
    }
    let until = Micros(now.0.saturating_add(i64::from(seconds) * Micros::PER_SECOND));
    for record in records {
        if let Record::Consumer(row) = record
            && image.consumers.get(row.uuid).is_none()
            && let Some(origin) = &mut row.origin
        {
            origin.lease = Some(Lease { until, generation: row.generation });
        }
    }
}

/// The record by which a claim is confirmed.
fn confirmed(image: &Image, consumer: &Consumer) -> Record {
    let row = image.consumer_row(consumer);
    let origin = row.origin.map(|origin| Origin { lease: None, ..origin });
    Record::Consumer(Box::new(ConsumerRow { origin, ..row }))
}

/// The records by which a host's report confirms claims: of the servers that it
/// lists.
pub(crate) fn confirmed_by_report(
    image: &Image,
    host: Uuid,
    lists: impl Fn(Uuid) -> bool,
) -> Vec<Record> {
    let waiting = image.consumers.placed_on(host).filter(|consumer| consumer.lease().is_some());
    let listed = waiting.filter(|consumer| lists(consumer.uuid));
    listed.map(|consumer| confirmed(image, consumer)).collect()
}

/// What confirming a decision found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Confirmed {
    /// Servers whose claims stand, now or already before.
    pub confirmed: Vec<Uuid>,
    /// Servers that hold nothing of this decision any more: their claims have run
    /// out, were released, or made anew by another decision.
    pub gone: Vec<Uuid>,
}

/// Confirms the claims of a decision: those of the servers named, and of whoever
/// else has a lease by it.
pub(crate) fn confirm(image: &Image, decision: Uuid, servers: &[Uuid]) -> (Change, Confirmed) {
    let is_of = |consumer: &Consumer| {
        consumer.origin.as_ref().is_some_and(|origin| origin.decision == Some(decision))
    };
    let leased = image.consumers.leased().map(|(_, consumer)| consumer);
    let leased = leased.filter(|consumer| is_of(consumer)).map(|consumer| consumer.uuid);
    let mut said = Confirmed::default();
    let mut change = Change::new("claims.confirm");
    let mut seen = BTreeSet::new();
    for server in servers.iter().copied().chain(leased).filter(|server| seen.insert(*server)) {
        match image.consumers.get(server).filter(|consumer| is_of(consumer)) {
            Some(consumer) => {
                if consumer.lease().is_some() {
                    change.push(confirmed(image, consumer));
                }
                said.confirmed.push(server);
            }
            None => said.gone.push(server),
        }
    }
    (change, said)
}

/// Releases the claims whose leases have ended by `now`; those of servers that
/// their host knows are confirmed. Gives the servers released. One call does a
/// piece.
///
/// # Errors
/// None that a claim could meet: releasing needs no room.
pub(crate) fn expire(image: &Image, now: Micros) -> Result<(Change, Vec<Uuid>), SchedulerError> {
    let mut change = Change::new("claims.expire");
    let (mut claims, mut released) = (Vec::new(), Vec::new());
    let mut left: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
    let ended = image.consumers.leased().take_while(|(until, _)| *until <= now).take(PIECE);
    for (_, consumer) in ended {
        let Some(origin) = consumer.origin.as_deref() else { continue };
        let host = image.hosts.get(origin.host);
        if host.is_some_and(|host| host.row.has_instance(consumer.uuid)) {
            change.push(confirmed(image, consumer));
            continue;
        }
        if let Some(group) = origin.group {
            left.entry(group).or_default().push(consumer.uuid);
        }
        released.push(consumer.uuid);
        claims.push(ConsumerClaim {
            consumer: consumer.uuid,
            generation: ConsumerGeneration::Is(consumer.generation),
            project: consumer.project.to_string(),
            user: consumer.user.to_string(),
            consumer_type: None,
            allocations: Vec::new(),
            origin: None,
        });
    }
    change.records.extend(allocation_records(image, &claims, now)?);
    for (group, servers) in left {
        let Some(row) = image.server_groups.get(group) else { continue };
        let mut row = ServerGroupRow::clone(row);
        row.members.retain(|member| !servers.contains(member));
        row.updated = now;
        change.push(Record::ServerGroup(row));
    }
    Ok((change, released))
}

//! Replacing what consumers hold.

use super::{
    ConsumerClaim, ConsumerGeneration,
    check::{Resolved, UnknownClass, check, resolve},
};
use crate::error::PlacementError;
use foldhash::{HashSet, HashSetExt};
use stowplan_ledger::{
    Change, Image, Record,
    image::{consumers::Consumer, providers::At},
    rows::{AllocationRow, ConsumerRow, Origin},
};
use stowplan_model::{Micros, Uuid};

/// Replaces what one consumer holds: `PUT /allocations/{consumer}`.
///
/// # Errors
/// A conflict of generations, a provider or class that does not exist, or
/// amounts that do not fit. Nothing is changed then.
pub fn replace_allocations(
    image: &Image,
    claim: &ConsumerClaim,
    now: Micros,
) -> Result<(Change, ()), PlacementError> {
    let unknown = |claim: &ConsumerClaim, class: &str| PlacementError::AllocationClass {
        consumer: claim.consumer,
        class: class.to_owned(),
    };
    no_task(image, [claim.consumer])?;
    let records = replace(image, std::slice::from_ref(claim), unknown, now)?;
    Ok((Change { kind: "allocations.put".to_owned(), records }, ()))
}

/// Replaces what several consumers hold, all or nothing: `POST /allocations`.
///
/// # Errors
/// As [`replace_allocations`], for any of the claims.
pub fn replace_many(
    image: &Image,
    claims: &[ConsumerClaim],
    now: Micros,
) -> Result<(Change, ()), PlacementError> {
    no_task(image, claims.iter().map(|claim| claim.consumer))?;
    let records = allocation_records(image, claims, now)?;
    Ok((Change { kind: "allocations.post".to_owned(), records }, ()))
}

/// The records of [`replace_many`], for a change that holds more than them:
/// a placed server with its decision, a gang with its tasks.
///
/// # Errors
/// As [`replace_allocations`], for any of the claims.
pub fn allocation_records(
    image: &Image,
    claims: &[ConsumerClaim],
    now: Micros,
) -> Result<Vec<Record>, PlacementError> {
    let unknown = |_: &ConsumerClaim, class: &str| PlacementError::AllocationsClass {
        class: class.to_owned(),
    };
    replace(image, claims, unknown, now)
}

/// Takes away all that a consumer holds: `DELETE /allocations/{consumer}`.
/// The providers' generations stay, as with the peer.
///
/// # Errors
/// [`PlacementError::NoAllocations`], or [`PlacementError::HeldByTask`].
pub fn delete_allocations(image: &Image, consumer: Uuid) -> Result<(Change, ()), PlacementError> {
    if image.consumers.get(consumer).is_none() {
        return Err(PlacementError::NoAllocations { consumer });
    }
    no_task(image, [consumer])?;
    let mut change = Change::new("allocations.delete");
    change.push(Record::ConsumerGone(consumer));
    Ok((change, ()))
}

/// Refuses calls about batch tasks: were the room of a running one given away,
/// two would run in it.
fn no_task(image: &Image, consumers: impl IntoIterator<Item = Uuid>) -> Result<(), PlacementError> {
    let is_task = |consumer: &Uuid| image.batch.tasks.get(*consumer).is_some();
    match consumers.into_iter().find(is_task) {
        Some(consumer) => Err(PlacementError::HeldByTask { consumer }),
        None => Ok(()),
    }
}

/// The records of claims with the caller's word for an unknown class.
pub(crate) fn replace(
    image: &Image,
    claims: &[ConsumerClaim],
    unknown: UnknownClass,
    now: Micros,
) -> Result<Vec<Record>, PlacementError> {
    let mut before = Vec::with_capacity(claims.len());
    let mut seen = HashSet::with_capacity(claims.len());
    for claim in claims {
        if !seen.insert(claim.consumer) {
            return Err(PlacementError::ConsumerTwice { consumer: claim.consumer });
        }
        let consumer = image.consumers.get(claim.consumer).map(AsRef::as_ref);
        check_generation(claim, consumer)?;
        before.push(consumer);
    }
    let resolved = resolve(image, claims, unknown)?;
    check(image, &resolved, &before)?;
    Ok(records(image, claims, &resolved, &before, now))
}

fn check_generation(
    claim: &ConsumerClaim,
    consumer: Option<&Consumer>,
) -> Result<(), PlacementError> {
    let expected = consumer.map(|consumer| consumer.generation);
    let given = match claim.generation {
        ConsumerGeneration::Unchecked => return Ok(()),
        ConsumerGeneration::New => None,
        ConsumerGeneration::Is(generation) => Some(generation),
    };
    if given == expected {
        return Ok(());
    }
    Err(PlacementError::ConsumerGeneration { consumer: claim.consumer, expected, given })
}

fn records(
    image: &Image,
    claims: &[ConsumerClaim],
    resolved: &Resolved,
    before: &[Option<&Consumer>],
    now: Micros,
) -> Vec<Record> {
    let mut records = Vec::with_capacity(claims.len() * 4);
    let mut touched: Vec<At> = Vec::with_capacity(claims.len() * 2);
    let mut next_id = image.consumers.next_id();
    for ((claim, wanted), before) in claims.iter().zip(&resolved.wanted).zip(before) {
        if wanted.is_empty() {
            // Nothing is left of the consumer; its providers have changed.
            if let Some(before) = before {
                touched.extend(before.allocations.iter().map(|held| held.provider));
                records.push(Record::ConsumerGone(claim.consumer));
            }
            continue;
        }
        touched.extend(wanted.iter().map(|wanted| wanted.provider));
        let places = wanted.iter().map(|wanted| wanted.provider);
        let allocations = wanted.iter().map(|wanted| AllocationRow {
            provider: image.providers.uuid(wanted.provider),
            class: image.classes.name(wanted.class).to_owned(),
            used: wanted.amount,
        });
        let id = before.map_or(next_id, |before| before.id);
        next_id += i64::from(before.is_none());
        let kept_type = before.and_then(|before| before.consumer_type.as_deref());
        records.push(Record::Consumer(Box::new(ConsumerRow {
            id,
            uuid: claim.consumer,
            // A new consumer is born with 0 and counts its first write.
            generation: before.map_or(0, |before| before.generation) + 1,
            project: claim.project.clone(),
            user: claim.user.clone(),
            consumer_type: claim.consumer_type.clone().or_else(|| kept_type.map(str::to_owned)),
            allocations: allocations.collect(),
            origin: claim.origin.clone().or_else(|| kept_origin(image, *before, places)),
            created: before.map_or(now, |before| before.created),
            updated: now,
        })));
    }
    touched.sort_unstable();
    touched.dedup();
    records.extend(touched.into_iter().map(|at| Record::Generation {
        provider: image.providers.uuid(at),
        generation: image.providers.generation(at) + 1,
    }));
    records
}

/// The origin that a rewritten consumer keeps: while it holds something on the
/// tree of the host that it was placed on, it is still that host's.
fn kept_origin(
    image: &Image,
    before: Option<&Consumer>,
    mut places: impl Iterator<Item = At>,
) -> Option<Origin> {
    let origin = before?.origin.as_deref()?;
    let host = image.providers.find(origin.host)?;
    let root = image.providers.get(host)?.root;
    let on_host = |at| image.providers.get(at).is_some_and(|provider| provider.root == root);
    places.any(on_host).then(|| origin.clone())
}

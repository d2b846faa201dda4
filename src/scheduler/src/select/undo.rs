//! Taking back what a call claimed whose answer reaches nobody.

use std::collections::BTreeMap;

use stowplan_ledger::image::consumers::Consumer;
use stowplan_ledger::rows::{CallClaim, CallRow, Origin, ServerGroupRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::claims::{
    ConsumerClaim, ConsumerGeneration, ProviderClaim, allocation_records,
};

use super::claim::held;

/// What undoing a call did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Consumers whose claims were taken back.
    pub released: Vec<Uuid>,
    /// Consumers whose claims stay, each with the reason.
    pub kept: Vec<(Uuid, String)>,
}

const CHANGED: &str = "somebody else has changed it since";
const MAY_BE_KNOWN: &str = "its answer may have reached the caller before a restart";

/// Takes back what a call claimed, and forgets the call. What somebody else has
/// changed since is theirs; what does not fit any more stays, too. Where something
/// stays, so does the call, done with, and says why. `maybe_known` is whether the
/// caller may have had the answer all the same: then everything stays.
///
/// A call that is not known or done with is left alone.
pub(crate) fn undo_call(
    image: &Image,
    call: Uuid,
    maybe_known: bool,
    now: Micros,
) -> (Change, Undone) {
    let Some(row) = image.calls.get(call).filter(|row| !row.delivered) else {
        return (Change::nothing(), Undone::default());
    };
    let mut undone = Undone::default();
    let mut claims = Vec::new();
    for claim in &row.claims {
        let Some(consumer) = image.consumers.get(claim.consumer) else { continue };
        if consumer.generation != claim.generation {
            undone.kept.push((claim.consumer, CHANGED.to_owned()));
        } else if maybe_known {
            undone.kept.push((claim.consumer, MAY_BE_KNOWN.to_owned()));
        } else {
            claims.push((claim, &**consumer));
        }
    }
    let back: Vec<ConsumerClaim> =
        claims.iter().map(|(claim, consumer)| back(image, claim, consumer)).collect();
    let mut change = Change::new("call.undo");
    match allocation_records(image, &back, now) {
        Ok(records) => {
            undone.released.extend(back.iter().map(|claim| claim.consumer));
            change.records = records;
            let groups = left_groups(image, &claims, &back, now);
            change.records.extend(groups.map(Record::ServerGroup));
        }
        Err(error) => {
            let why = format!("what was there before does not fit any more: {error}");
            undone.kept.extend(back.iter().map(|claim| (claim.consumer, why.clone())));
        }
    }
    change.push(match undone.kept.is_empty() {
        true => Record::CallGone(call),
        false => Record::Call(Box::new(done_with(row, &undone, now))),
    });
    (change, undone)
}

/// What a consumer held before a claim.
fn back(image: &Image, claim: &CallClaim, consumer: &Consumer) -> ConsumerClaim {
    let mut rest: Vec<ProviderClaim> = held(image, consumer);
    rest.retain(|held| !claim.providers.contains(&held.provider));
    ConsumerClaim {
        consumer: claim.consumer,
        generation: ConsumerGeneration::Is(consumer.generation),
        project: consumer.project.to_string(),
        user: consumer.user.to_string(),
        consumer_type: None,
        allocations: rest,
        origin: claim.origin_before.clone(),
    }
}

/// The server groups that consumers leave of whom nothing is left.
fn left_groups(
    image: &Image,
    claims: &[(&CallClaim, &Consumer)],
    back: &[ConsumerClaim],
    now: Micros,
) -> impl Iterator<Item = ServerGroupRow> {
    let mut left: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
    for ((claim, consumer), back) in claims.iter().zip(back) {
        if back.allocations.is_empty()
            && let Some(Origin { group: Some(group), .. }) = consumer.origin.as_deref()
        {
            left.entry(*group).or_default().push(claim.consumer);
        }
    }
    left.into_iter().filter_map(move |(group, members)| {
        let mut group = ServerGroupRow::clone(image.server_groups.get(group)?);
        group.members.retain(|member| !members.contains(member));
        group.updated = now;
        Some(group)
    })
}

/// A call with the claims that stay.
fn done_with(row: &CallRow, undone: &Undone, now: Micros) -> CallRow {
    let mut row = CallRow { delivered: true, updated: now, ..row.clone() };
    row.claims.retain_mut(|claim| {
        let reason = undone.kept.iter().find(|(consumer, _)| *consumer == claim.consumer);
        claim.stays = reason.map(|(_, why)| why.clone());
        claim.stays.is_some()
    });
    row
}

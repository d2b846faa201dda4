//! A request that came as a call over the message bus. Its answer is kept with
//! what it claims: a second copy of the call gets the same answer, and an answer
//! that reaches nobody is undone.

use std::collections::BTreeMap;

use stowplan_ledger::rows::{CallClaim, CallRow, Origin};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::claims::{
    ConsumerClaim, ConsumerGeneration, ProviderClaim, allocation_records,
};

use super::answer::Selection;
use super::claim::held;
use crate::error::SchedulerError;

/// The name space of calls whose id is no uuid.
const NAMESPACE: Uuid = Uuid::from_u128(0x0c1d_66a5_7b0f_5d0e_a9a4_39b2_86f4_5e11);

/// How the bus writes an answer.
pub type WriteAnswer = Box<dyn Fn(&[Selection]) -> String + Send + Sync>;

/// A call on its way.
pub struct BusCall {
    /// The call's id as its caller wrote it.
    pub msg_id: String,
    /// The message's id; empty when it has none.
    pub unique_id: String,
    /// The queue that the answer goes to.
    pub reply_queue: String,
    /// How the bus writes an answer.
    pub write: WriteAnswer,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallAnswer {
    /// The answer, as the bus writes it.
    pub answer: String,
    /// Under which it is kept until it is delivered; none where nothing was
    /// claimed.
    pub kept: Option<Uuid>,
    /// Whether it was there already.
    pub repeated: bool,
}

/// The uuid under which a call is kept.
#[must_use]
pub fn call_uuid(msg_id: &str) -> Uuid {
    Uuid::parse_str(msg_id).unwrap_or_else(|_| Uuid::new_v5(&NAMESPACE, msg_id.as_bytes()))
}

impl BusCall {
    /// The call with its answer and with what these records claim for it.
    pub(super) fn row(
        &self,
        image: &Image,
        records: &[Record],
        selections: &[Selection],
        now: Micros,
    ) -> CallRow {
        let claims = records.iter().filter_map(|record| match record {
            Record::Consumer(row) => {
                let before = image.consumers.get(row.uuid);
                let held_before = before.map(|consumer| held(image, consumer)).unwrap_or_default();
                let mut providers: Vec<Uuid> =
                    row.allocations.iter().map(|allocation| allocation.provider).collect();
                providers.dedup();
                providers.retain(|uuid| held_before.iter().all(|claim| claim.provider != *uuid));
                Some(CallClaim {
                    consumer: row.uuid,
                    generation: row.generation,
                    providers,
                    origin_before: before.and_then(|before| before.origin.as_deref().cloned()),
                })
            }
            _ => None,
        });
        CallRow {
            id: image.calls.next_id(),
            uuid: call_uuid(&self.msg_id),
            msg_id: self.msg_id.clone(),
            unique_id: self.unique_id.clone(),
            reply_queue: self.reply_queue.clone(),
            answer: (self.write)(selections),
            claims: claims.collect(),
            delivered: false,
            created: now,
            updated: now,
        }
    }
}

/// What undoing a call did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Consumers whose claims were taken back.
    pub released: Vec<Uuid>,
    /// Consumers that somebody else has changed since: theirs stay.
    pub kept: Vec<Uuid>,
}

/// Takes back what a call claimed, and forgets the call. What somebody else has
/// changed since is theirs. A call that is not known or was delivered is left
/// alone.
///
/// # Errors
/// When what its consumers held before does not fit any more.
pub fn undo_call(
    image: &Image,
    call: Uuid,
    now: Micros,
) -> Result<(Change, Undone), SchedulerError> {
    let mut undone = Undone::default();
    let Some(row) = image.calls.get(call).filter(|row| !row.delivered) else {
        return Ok((Change::nothing(), undone));
    };
    let mut claims = Vec::new();
    let mut left: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
    for claim in &row.claims {
        let Some(consumer) = image.consumers.get(claim.consumer) else { continue };
        if consumer.generation != claim.generation {
            undone.kept.push(claim.consumer);
            continue;
        }
        undone.released.push(claim.consumer);
        let mut rest: Vec<ProviderClaim> = held(image, consumer);
        rest.retain(|held| !claim.providers.contains(&held.provider));
        if rest.is_empty()
            && let Some(Origin { group: Some(group), .. }) = consumer.origin.as_deref()
        {
            left.entry(*group).or_default().push(claim.consumer);
        }
        claims.push(ConsumerClaim {
            consumer: claim.consumer,
            generation: ConsumerGeneration::Is(consumer.generation),
            project: consumer.project.to_string(),
            user: consumer.user.to_string(),
            consumer_type: None,
            allocations: rest,
            origin: claim.origin_before.clone(),
        });
    }
    let mut change = Change::new("call.undo");
    change.records = allocation_records(image, &claims, now)?;
    for (group, members) in left {
        let Some(group) = image.server_groups.get(group) else { continue };
        let mut group = stowplan_ledger::rows::ServerGroupRow::clone(group);
        group.members.retain(|member| !members.contains(member));
        group.updated = now;
        change.push(Record::ServerGroup(group));
    }
    change.push(Record::CallGone(call));
    Ok((change, undone))
}

/// Notes that the broker took the answers of these calls.
pub(crate) fn delivered(image: &Image, calls: &[Uuid], now: Micros) -> Change {
    let mut change = Change::new("calls.delivered");
    for row in calls.iter().filter_map(|uuid| image.calls.get(*uuid)) {
        if !row.delivered {
            let row = CallRow { delivered: true, updated: now, ..CallRow::clone(row) };
            change.push(Record::Call(Box::new(row)));
        }
    }
    change
}

/// Forgets delivered calls that are older than `oldest` or of which there are
/// more than `most`, the oldest first.
pub(crate) fn forget(image: &Image, oldest: Micros, most: usize) -> Change {
    const PIECE: usize = 1000;
    let mut surplus = image.calls.len().saturating_sub(most);
    let mut change = Change::new("calls.forget");
    for row in image.calls.iter().filter(|row| row.delivered) {
        if (surplus == 0 && row.created >= oldest) || change.records.len() == PIECE {
            break;
        }
        surplus = surplus.saturating_sub(1);
        change.push(Record::CallGone(row.uuid));
    }
    change
}

//! A request that came as a call over the message bus. Its answer is kept with
//! what it claims: a second copy of the call gets the same answer, and an answer
//! that reaches nobody is undone.

use std::sync::Arc;

use stowplan_ledger::rows::{CallClaim, CallRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

use super::answer::Selection;
use super::claim::held;
use super::repeat::{Repeat, Told};
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

impl Repeat for BusCall {
    /// What is kept of a call.
    type Before = Arc<CallRow>;
    /// The answer, as the bus writes it; empty where there is none to keep.
    type Written = String;

    fn before(&self, image: &Image) -> Result<Option<Arc<CallRow>>, SchedulerError> {
        Ok(image.calls.get(call_uuid(&self.msg_id)).cloned())
    }

    fn write(&self, told: Told<'_>) -> String {
        match told {
            Told::Placed(destinations) => (self.write)(&destinations.selections),
            Told::Refused(_) => String::new(),
        }
    }

    fn keep(
        &self,
        image: &Image,
        written: &String,
        claimed: Option<&[Record]>,
        now: Micros,
    ) -> Vec<Record> {
        let row = claimed.map(|records| self.row(image, records, written.clone(), now));
        row.into_iter().map(|row| Record::Call(Box::new(row))).collect()
    }
}

impl BusCall {
    /// The call with its answer and with what these records claim for it.
    fn row(&self, image: &Image, records: &[Record], answer: String, now: Micros) -> CallRow {
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
                    stays: None,
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
            answer,
            claims: claims.collect(),
            delivered: false,
            created: now,
            updated: now,
        }
    }
}

/// Notes that no queue was there for the answer to a call. After a restart this is
/// how it is known that its caller never had it, see [`CallRow::was_missing`].
pub(crate) fn missing(image: &Image, call: Uuid, now: Micros) -> Change {
    let mut change = Change::new("call.missing");
    if let Some(row) = image.calls.get(call).filter(|row| !row.delivered && !row.was_missing()) {
        let later = Micros(now.0.max(row.created.0 + 1));
        let row = CallRow { updated: later, ..CallRow::clone(row) };
        change.push(Record::Call(Box::new(row)));
    }
    change
}

/// Forgets calls that are done with and older than `oldest`, or of which there are
/// more than `most`, the oldest first; a piece at a time. Gives how many.
pub(crate) fn forget(image: &Image, oldest: Micros, most: usize) -> (Change, usize) {
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
    let count = change.records.len();
    (change, count)
}

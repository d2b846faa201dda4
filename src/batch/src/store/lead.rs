//! Who leads cycles (rule 11).
//!
//! Whoever begins to run cycles takes the next epoch. What a cycle writes is
//! checked for it against the newest image, so that a process that stood still
//! while another one took over can write nothing more.

use serde_json::Value;
use stowplan_ledger::rows::{BatchObjectRow, LEADER};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use thiserror::Error;

/// What is led.
const NAME: &str = "cycles";

/// The term of one leader: the number of its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(i64);

/// Another process has taken the lead since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("another process leads batch cycles since (epoch {now}, this one's is {own})")]
pub struct Superseded {
    /// The epoch of whoever asked.
    pub own: i64,
    /// The epoch in force.
    pub now: i64,
}

/// Takes the lead: whoever had it before is refused from then on.
#[must_use]
pub fn take_lead(image: &Image, now: Micros) -> (Change, Epoch) {
    let before = image.batch.objects.get(uuid());
    let epoch = before.map_or(0, |row| row.generation) + 1;
    let mut change = Change::new("batch.lead");
    change.push(Record::BatchObject(BatchObjectRow {
        id: before.map_or(image.batch.objects.next_id(), |row| row.id),
        uuid: uuid(),
        kind: LEADER.to_owned(),
        name: NAME.to_owned(),
        spec: Value::Null,
        generation: epoch,
        created: before.map_or(now, |row| row.created),
        updated: now,
    }));
    (change, Epoch(epoch))
}

impl Epoch {
    /// That this is the epoch in force.
    ///
    /// # Errors
    /// Another process has taken the lead since.
    pub fn check(self, image: &Image) -> Result<(), Superseded> {
        let now = image.batch.objects.get(uuid()).map_or(0, |row| row.generation);
        if now == self.0 { Ok(()) } else { Err(Superseded { own: self.0, now }) }
    }
}

fn uuid() -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{LEADER}/{NAME}").as_bytes())
}

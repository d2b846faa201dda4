//! What must be there before the first job: the queues that always exist.
//!
//! Resource classes are not made here: those that requests are held in exist
//! as soon as some host has an inventory of them, and without one nothing can
//! be placed anyway.

use crate::spec::QueueSpec;
use stowplan_ledger::rows::QueueRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Micros;

/// The queue above all others; it takes no jobs itself.
pub const ROOT_QUEUE: &str = "root";
/// The queue of jobs that name none.
pub const DEFAULT_QUEUE: &str = "default";

/// Makes what is missing; with nothing missing the change is empty.
#[must_use]
pub fn seed(image: &Image, now: Micros) -> Change {
    let mut change = Change::new("batch.seed");
    let mut id = image.batch.next_queue_id();
    for (name, parent) in [(ROOT_QUEUE, None), (DEFAULT_QUEUE, Some(ROOT_QUEUE))] {
        if image.batch.queue(name).is_some() {
            continue;
        }
        let spec = QueueSpec { parent: parent.map(str::to_owned), ..QueueSpec::default() };
        change.push(Record::Queue(QueueRow {
            id,
            name: name.to_owned(),
            spec: serde_json::to_value(spec).unwrap_or_default(),
            state: "Open".to_owned(),
            generation: 0,
            created: now,
            updated: now,
        }));
        id += 1;
    }
    change
}

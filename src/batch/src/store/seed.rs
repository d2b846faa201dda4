//! What must be there before the first job: the queues that always exist, and
//! the resource classes that requests are held in. A cloud without jobs has the
//! queues alone, so that its Placement API shows the standard classes and
//! nothing else.

use crate::amounts::Dims;
use crate::spec::QueueSpec;
use stowplan_ledger::rows::{NameRow, QueueRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Micros;
use stowplan_model::names::{is_custom, standard_classes};

/// The queue above all others; it takes no jobs itself.
pub const ROOT_QUEUE: &str = "root";
/// The queue of jobs that name none.
pub const DEFAULT_QUEUE: &str = "default";

/// Whether [`seed`] would change nothing.
#[must_use]
pub fn is_seeded(image: &Image, dims: &Dims) -> bool {
    missing_classes(image, dims).next().is_none() && has_queues(image)
}

/// Whether [`seed_queues`] would change nothing.
#[must_use]
pub fn has_queues(image: &Image) -> bool {
    [ROOT_QUEUE, DEFAULT_QUEUE].iter().all(|name| image.batch.queue(name).is_some())
}

/// Makes what is missing.
#[must_use]
pub fn seed(image: &Image, dims: &Dims, now: Micros) -> Change {
    let mut change = seed_queues(image, now);
    let first_id = image.classes.next_id();
    for (id, name) in (first_id..).zip(missing_classes(image, dims)) {
        let row = NameRow { id, name: name.to_owned(), created: now, updated: now };
        change.push(Record::Class(row));
    }
    change
}

/// Makes the queues that are missing.
#[must_use]
pub fn seed_queues(image: &Image, now: Micros) -> Change {
    let mut change = Change::new("batch.seed");
    let mut id = image.batch.next_queue_id();
    for (name, parent) in [(ROOT_QUEUE, None), (DEFAULT_QUEUE, Some(ROOT_QUEUE))] {
        if image.batch.queue(name).is_some() {
            continue;
        }
        let spec = QueueSpec { parent: parent.map(str::to_owned), priority: 0 };
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

/// Classes that dimensions are held as and that do not exist yet. A name that
/// nobody may create is left out: no inventory can have it either.
fn missing_classes<'a>(image: &'a Image, dims: &'a Dims) -> impl Iterator<Item = &'a str> {
    let classes = dims.iter().filter_map(|(_, dim)| dim.class.as_deref());
    classes.filter(|class| {
        let may_be = is_custom(class) || standard_classes().any(|name| name == *class);
        may_be && image.classes.get(class).is_none()
    })
}

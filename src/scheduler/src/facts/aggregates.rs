//! What is told of host aggregates. Who tells looks after the mirrored Placement
//! aggregates, too.

use std::sync::Arc;

use stowplan_ledger::rows::HostAggregateRow;
use stowplan_ledger::{Image, Record};
use stowplan_model::Uuid;

use super::AggregateFact;
use super::stamps::Lesson;
use crate::error::SchedulerError;

/// The name space of aggregates that are told of without a uuid.
const NAMESPACE: Uuid = Uuid::from_u128(0x7d3c_11a4_5e4a_5c1d_a1f5_c1b3_0d9a_2f64);

/// Who an aggregate is: with its service it has an id that no other ever had.
#[derive(Clone, Copy)]
struct Key {
    external_id: Option<i64>,
    uuid: Uuid,
}

impl Key {
    fn new(external_id: Option<i64>, uuid: Option<Uuid>) -> Self {
        let id = external_id.unwrap_or_default();
        let made = || Uuid::new_v5(&NAMESPACE, id.to_string().as_bytes());
        Self { external_id, uuid: uuid.unwrap_or_else(made) }
    }

    /// The row of that id, or else of that uuid.
    fn find(self, image: &Image) -> Option<&Arc<HostAggregateRow>> {
        let by_id = self
            .external_id
            .and_then(|id| image.host_aggregates.iter().find(|row| row.external_id == Some(id)));
        by_id.or_else(|| image.host_aggregates.get(self.uuid))
    }

    fn about(self) -> String {
        match self.external_id {
            Some(id) => format!("aggregate/{id}"),
            None => format!("aggregate/{}", self.uuid),
        }
    }
}

pub(super) fn is(lesson: &mut Lesson<'_>, fact: &AggregateFact) -> Result<(), SchedulerError> {
    let key = Key::new(fact.external_id, fact.uuid);
    let about = key.about();
    if !lesson.is_news(&about) {
        return Ok(());
    }
    let (image, now) = (lesson.image, lesson.now);
    let before = key.find(image);
    let namesake = image
        .host_aggregates
        .iter()
        .find(|row| row.name == fact.name && before.is_none_or(|before| before.id != row.id));
    match namesake {
        // Names are unique with its service, too: that one must be gone by now.
        Some(row) if row.external_id.is_some() => {
            lesson.push(Record::HostAggregateGone(row.uuid));
        }
        Some(_) => return Err(SchedulerError::AggregateName(fact.name.clone())),
        None => {}
    }
    let mut after = match before {
        Some(row) => HostAggregateRow::clone(row),
        None => HostAggregateRow {
            id: image.host_aggregates.next_id(),
            uuid: key.uuid,
            name: String::new(),
            hosts: Vec::new(),
            metadata: Default::default(),
            external_id: Some(fact.external_id.unwrap_or_default()),
            created: now,
            updated: now,
        },
    };
    after.name.clone_from(&fact.name);
    after.hosts.clone_from(&fact.hosts);
    after.hosts.sort();
    after.hosts.dedup();
    after.metadata.clone_from(&fact.metadata);
    if before.is_none_or(|before| **before != after) {
        after.updated = now;
        lesson.push(Record::HostAggregate(after));
    }
    lesson.note(&about, None);
    Ok(())
}

pub(super) fn gone(lesson: &mut Lesson<'_>, uuid: Option<Uuid>, external_id: Option<i64>) {
    let key = Key::new(external_id, uuid);
    let about = key.about();
    if !lesson.is_news(&about) {
        return;
    }
    if let Some(row) = key.find(lesson.image) {
        lesson.push(Record::HostAggregateGone(row.uuid));
    }
    lesson.note(&about, None);
}

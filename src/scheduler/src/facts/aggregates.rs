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

fn uuid_of(uuid: Option<Uuid>, external_id: Option<i64>) -> Uuid {
    uuid.unwrap_or_else(|| {
        let id = external_id.unwrap_or_default();
        Uuid::new_v5(&NAMESPACE, id.to_string().as_bytes())
    })
}

fn known(image: &Image, uuid: Uuid) -> Option<&Arc<HostAggregateRow>> {
    image.host_aggregates.get(uuid)
}

fn about(uuid: Uuid) -> String {
    format!("aggregate/{uuid}")
}

pub(super) fn is(lesson: &mut Lesson<'_>, fact: &AggregateFact) -> Result<(), SchedulerError> {
    let uuid = uuid_of(fact.uuid, fact.external_id);
    let about = about(uuid);
    if !lesson.is_news(&about) {
        return Ok(());
    }
    let (image, now) = (lesson.image, lesson.now);
    let before = known(image, uuid);
    let is_taken = |row: &&Arc<HostAggregateRow>| row.name == fact.name && row.uuid != uuid;
    if image.host_aggregates.iter().any(|row| is_taken(&row)) {
        return Err(SchedulerError::AggregateName(fact.name.clone()));
    }
    let mut after = match before {
        Some(row) => HostAggregateRow::clone(row),
        None => HostAggregateRow {
            id: image.host_aggregates.next_id(),
            uuid,
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
    let uuid = uuid_of(uuid, external_id);
    let about = about(uuid);
    if !lesson.is_news(&about) {
        return;
    }
    if known(lesson.image, uuid).is_some() {
        lesson.push(Record::HostAggregateGone(uuid));
    }
    lesson.note(&about, None);
}

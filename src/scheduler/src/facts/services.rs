//! What is told of services: only those that run servers are heeded.

use stowplan_ledger::Record;
use stowplan_ledger::rows::ServiceRow;

use super::ServiceFact;
use super::stamps::Lesson;
use crate::draft::Draft;
use crate::error::SchedulerError;
use crate::hosts::{self, BINARY, ServiceKey};

fn about(host: &str) -> String {
    format!("service/{host}")
}

pub(super) fn is(lesson: &mut Lesson<'_>, fact: &ServiceFact) -> Result<(), SchedulerError> {
    let about = about(&fact.host);
    if fact.binary != BINARY || !lesson.is_news(&about) {
        return Ok(());
    }
    let image = lesson.image;
    let before = image
        .service_of(&fact.host)
        .ok_or_else(|| SchedulerError::HostNotFound { host: fact.host.clone() })?;
    let mut after = ServiceRow {
        disabled: fact.disabled,
        disabled_reason: fact.disabled_reason.clone(),
        forced_down: fact.forced_down,
        ..ServiceRow::clone(before)
    };
    if fact.version > 0 {
        after.version = fact.version;
    }
    if before.disabled != after.disabled {
        let mut draft = Draft::new(image, "fact", lesson.now);
        hosts::toggle_nodes(&mut draft, &fact.host, None, after.disabled)?;
        lesson.extend(draft.finish());
    }
    if after != **before {
        after.updated = lesson.now;
        lesson.push(Record::Service(after));
    }
    lesson.note(&about, None);
    Ok(())
}

pub(super) fn gone(
    lesson: &mut Lesson<'_>,
    host: &str,
    binary: &str,
) -> Result<(), SchedulerError> {
    let about = about(host);
    if binary != BINARY || !lesson.is_news(&about) {
        return Ok(());
    }
    if lesson.image.service_of(host).is_some() {
        let key = ServiceKey::On { host: host.to_owned(), binary: binary.to_owned() };
        let (change, _) = hosts::delete_service(lesson.image, &key, lesson.now)?;
        lesson.extend(change);
    }
    lesson.note(&about, None);
    Ok(())
}

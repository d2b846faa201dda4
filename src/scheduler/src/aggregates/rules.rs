//! What holds of host aggregates: names, metadata, one zone per host.

use std::collections::BTreeMap;

use stowplan_ledger::Image;
use stowplan_ledger::image::consumers::Consumer;
use stowplan_ledger::rows::{HostAggregateRow, OriginKind};

use crate::error::SchedulerError;
use crate::fields::{FieldErrors, MAX_TEXT};
use crate::hosts::ZONE;
use crate::select::CONSUMER_TYPE;

/// Checks what an aggregate is called and what is said of it.
pub(crate) fn check(errors: &mut FieldErrors, own: &str, all: &BTreeMap<String, String>) {
    name(errors, own);
    for (key, value) in all {
        metadata(errors, key, value);
    }
}

/// Checks the name of an aggregate.
pub(super) fn name(errors: &mut FieldErrors, name: &str) {
    errors.require_name("name", name, MAX_TEXT);
}

/// Checks one key of metadata with its value.
pub(super) fn metadata(errors: &mut FieldErrors, key: &str, value: &str) {
    let field = format!("metadata.{key}");
    errors.require(
        (1..=MAX_TEXT).contains(&key.chars().count()),
        field.clone(),
        key,
        format!("a key of 1 to {MAX_TEXT} characters"),
    );
    errors.require(
        value.chars().count() <= MAX_TEXT,
        field.clone(),
        value,
        format!("at most {MAX_TEXT} characters"),
    );
    if key == ZONE {
        zone(errors, &field, value);
    }
}

/// Checks the name of an availability zone.
fn zone(errors: &mut FieldErrors, field: &str, zone: &str) {
    let length = (1..=MAX_TEXT).contains(&zone.chars().count());
    errors.require(
        length && zone.trim() == zone && !zone.contains(':'),
        field,
        zone,
        format!(
            "the name of a zone, 1 to {MAX_TEXT} characters without colons or blanks at the ends"
        ),
    );
}

/// Checks a zone that is given as a field of its own, short for the metadata key:
/// it may be given both ways only if both say the same. `in_metadata` is what the
/// metadata says, null included.
pub(super) fn zone_field(
    errors: &mut FieldErrors,
    named: &str,
    in_metadata: Option<Option<&String>>,
) {
    zone(errors, ZONE, named);
    errors.require(
        in_metadata.is_none_or(|there| there.is_some_and(|there| there == named)),
        ZONE,
        named,
        "the zone that the metadata names, or only one of both",
    );
}

/// That a host that is in `row` (or is to join it) stays in one zone, and that
/// its zone does not change under its servers.
pub(super) fn one_zone(
    image: &Image,
    host: &str,
    before: Option<&HostAggregateRow>,
    after: &BTreeMap<String, String>,
    id: i64,
) -> Result<(), SchedulerError> {
    let wanted = after.get(ZONE);
    let others = image.hosts.aggregates_of(host).filter(|other| *other != id);
    let mut zones = others
        .filter_map(|id| image.host_aggregates.by_id(id))
        .filter_map(|row| Some((row.metadata.get(ZONE)?, &row.name)));
    let elsewhere = zones.next();
    if let (Some(wanted), Some((there, other))) = (wanted, elsewhere)
        && wanted != there
    {
        return Err(SchedulerError::ZoneConflict {
            host: host.to_owned(),
            there: there.clone(),
            other: other.clone(),
            wanted: wanted.clone(),
        });
    }
    let elsewhere = elsewhere.map(|(zone, _)| zone);
    let from = elsewhere.or_else(|| before.and_then(|row| row.metadata.get(ZONE)));
    let to = elsewhere.or(wanted);
    if from != to && has_servers(image, host) {
        let shown = |zone: Option<&String>| zone.cloned().unwrap_or_else(|| "none".to_owned());
        return Err(SchedulerError::ZoneInUse {
            host: host.to_owned(),
            from: shown(from),
            to: shown(to),
        });
    }
    Ok(())
}

/// Whether any server is on a host: one that it reports, that we placed, or
/// that holds something there, whoever placed it.
fn has_servers(image: &Image, host: &str) -> bool {
    let is_server = |consumer: &Consumer| match &consumer.origin {
        Some(origin) => origin.kind == OriginKind::Server,
        None => consumer.consumer_type.as_deref() == Some(CONSUMER_TYPE),
    };
    image.hosts.nodes_of(host).any(|node| {
        let uuid = node.row.uuid;
        let tree = image.providers.find(uuid).map(|root| image.providers.tree_of(root));
        let mut holders =
            tree.into_iter().flatten().flat_map(|&at| image.consumers.of_provider(at));
        !node.row.report.instances.is_empty()
            || image.consumers.placed_on(uuid).any(|consumer| is_server(consumer))
            || holders.any(|consumer| is_server(consumer))
    })
}

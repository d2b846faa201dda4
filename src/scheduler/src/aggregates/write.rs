//! Host aggregates made, changed and deleted.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

use super::members::with_mirror;
use super::{find, rules};
use crate::error::SchedulerError;
use crate::fields::FieldErrors;
use crate::hosts::{ZONE, check_name};

/// A host aggregate that is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct NewAggregate {
    /// Its name, which no other aggregate has.
    pub name: String,
    /// The availability zone it makes: short for the metadata key.
    pub availability_zone: Option<String>,
    /// Metadata.
    pub metadata: BTreeMap<String, String>,
    /// Names of its hosts, reported already or later.
    pub hosts: Vec<String>,
}

/// What is to change of a host aggregate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct AggregateUpdate {
    /// Its name from now on.
    pub name: Option<String>,
    /// The availability zone it makes: short for the metadata key.
    pub availability_zone: Option<String>,
    /// Metadata to set; a key with null is deleted, others stay.
    #[schema(value_type = BTreeMap<String, Option<String>>)]
    pub metadata: MetadataUpdate,
}

/// Metadata keys with their new values; null deletes.
pub type MetadataUpdate = BTreeMap<String, Option<String>>;

/// Reads the body of a new aggregate.
///
/// # Errors
/// Every field that is unknown or whose value is not of its kind.
pub fn read_new_aggregate(body: &[u8]) -> Result<NewAggregate, SchedulerError> {
    Ok(crate::body::read(body)?)
}

/// Reads the body of an update.
///
/// # Errors
/// Every field that is unknown or whose value is not of its kind.
pub fn read_update(body: &[u8]) -> Result<AggregateUpdate, SchedulerError> {
    Ok(crate::body::read(body)?)
}

/// Makes a host aggregate with this uuid.
///
/// # Errors
/// Fields that cannot be, a name that is taken, or a host that would be in two
/// zones or change its zone under its servers.
pub fn create_aggregate(
    image: &Image,
    uuid: Uuid,
    new: &NewAggregate,
    now: Micros,
) -> Result<(Change, HostAggregateRow), SchedulerError> {
    let mut errors = FieldErrors::default();
    rules::name(&mut errors, &new.name);
    for (key, value) in &new.metadata {
        rules::metadata(&mut errors, key, value);
    }
    let mut metadata = new.metadata.clone();
    if let Some(zone) = &new.availability_zone {
        rules::zone_field(&mut errors, zone, metadata.get(ZONE).map(Some));
        metadata.insert(ZONE.to_owned(), zone.clone());
    }
    let mut seen = BTreeSet::new();
    for (place, host) in new.hosts.iter().enumerate() {
        check_name(&mut errors, &format!("hosts[{place}]"), host);
        errors.require(seen.insert(host), format!("hosts[{place}]"), host, "each host once");
    }
    errors.into_result(())?;
    free_name(image, &new.name, None)?;
    let id = image.host_aggregates.next_id();
    for host in &new.hosts {
        rules::one_zone(image, host, None, &metadata, id)?;
    }
    let row = HostAggregateRow {
        id,
        uuid,
        name: new.name.clone(),
        hosts: new.hosts.clone(),
        metadata,
        external_id: None,
        created: now,
        updated: now,
    };
    let hosts: Vec<(&str, bool)> = new.hosts.iter().map(|host| (host.as_str(), true)).collect();
    let change = with_mirror(image, "aggregate.create", &row, &hosts, now)?;
    Ok((change, row))
}

/// Renames a host aggregate, or changes its metadata.
///
/// # Errors
/// When there is no such aggregate, fields that cannot be, a name that is
/// taken, or a host that would be in two zones or change its zone under its
/// servers.
pub fn update_aggregate(
    image: &Image,
    key: &str,
    update: &AggregateUpdate,
    now: Micros,
) -> Result<(Change, HostAggregateRow), SchedulerError> {
    let before = find(image, key)?;
    let mut errors = FieldErrors::default();
    let mut after = HostAggregateRow::clone(before);
    if let Some(name) = &update.name {
        rules::name(&mut errors, name);
        after.name.clone_from(name);
    }
    for (key, value) in &update.metadata {
        match value {
            Some(value) => {
                rules::metadata(&mut errors, key, value);
                after.metadata.insert(key.clone(), value.clone());
            }
            None => {
                after.metadata.remove(key);
            }
        }
    }
    if let Some(zone) = &update.availability_zone {
        let in_metadata = update.metadata.get(ZONE).map(Option::as_ref);
        rules::zone_field(&mut errors, zone, in_metadata);
        after.metadata.insert(ZONE.to_owned(), zone.clone());
    }
    errors.into_result(())?;
    free_name(image, &after.name, Some(before.id))?;
    if after.metadata.get(ZONE) != before.metadata.get(ZONE) {
        for host in &before.hosts {
            rules::one_zone(image, host, Some(before), &after.metadata, before.id)?;
        }
    }
    if after == **before {
        return Ok((Change::nothing(), after));
    }
    after.updated = now;
    let mut change = Change::new("aggregate.update");
    change.push(Record::HostAggregate(after.clone()));
    Ok((change, after))
}

/// Deletes a host aggregate that has no hosts.
///
/// # Errors
/// When there is no such aggregate, or when it has hosts.
pub fn delete_aggregate(image: &Image, key: &str) -> Result<(Change, ()), SchedulerError> {
    let row = find(image, key)?;
    if !row.hosts.is_empty() {
        return Err(SchedulerError::AggregateNotEmpty {
            name: row.name.clone(),
            hosts: row.hosts.join(", "),
        });
    }
    let mut change = Change::new("aggregate.delete");
    change.push(Record::HostAggregateGone(row.uuid));
    Ok((change, ()))
}

fn free_name(image: &Image, name: &str, own: Option<i64>) -> Result<(), SchedulerError> {
    let taken = image.host_aggregates.iter().any(|row| row.name == name && Some(row.id) != own);
    if taken { Err(SchedulerError::AggregateName(name.to_owned())) } else { Ok(()) }
}

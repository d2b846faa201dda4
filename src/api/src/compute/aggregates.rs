//! `/os-aggregates`: host aggregates, mirrored into Placement.

use super::{
    call::{Answer, Call, bare, check, json, parse, read},
    document::{ActionBody, AggregateBody, AggregateUpdateBody, ImagesBody},
    operations::{
        ActOnAggregate, CacheImages, CreateAggregate, DeleteAggregate, ListAggregates,
        ShowAggregate, UpdateAggregate,
    },
    path::{Id, number},
    refusals::refusal,
    schemas,
    version::Microversion,
    view::{AggregateAnswer, AggregatesAnswer, ComputeAggregate},
};
use crate::{
    body::Body,
    failure::{Code, Failure},
    policy::Target,
    schema::Schema,
};
use actix_web::http::StatusCode;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_scheduler::{
    SchedulerError,
    aggregates::{self, AggregateUpdate, NewAggregate},
    hosts::ZONE,
};

/// Lists host aggregates.
#[utoipa::path(get, path = "/v2.1/os-aggregates", tag = "compute aggregates",
    responses((status = 200, description = "All host aggregates.", body = AggregatesAnswer)))]
pub async fn list(call: Call<ListAggregates>) -> Answer {
    let image = call.image();
    let rows = image.host_aggregates.iter();
    let aggregates = rows.map(|row| ComputeAggregate::of(row, call.version)).collect();
    json(&AggregatesAnswer { aggregates })
}

/// Makes a host aggregate.
#[utoipa::path(post, path = "/v2.1/os-aggregates", tag = "compute aggregates",
    request_body(content = AggregateBody,
        example = json!({"aggregate": {"name": "fast-disks", "availability_zone": "east"}})),
    responses(
        (status = 200, description = "The aggregate, without hosts and metadata.",
            body = AggregateAnswer),
        (status = 400, description = "Fields that cannot be."),
        (status = 409, description = "The name is taken."),
    ))]
pub async fn create(call: Call<CreateAggregate>, Body(body): Body) -> Answer {
    let data = parse(&body, &schemas::CREATE_AGGREGATE)?;
    let new = NewAggregate {
        name: text_of(&data["aggregate"], "name").unwrap_or_default(),
        availability_zone: text_of(&data["aggregate"], ZONE),
        ..NewAggregate::default()
    };
    let row = call.api().scheduler.create_aggregate(call.call(), new).await?;
    json(&AggregateAnswer { aggregate: ComputeAggregate::made(&row, call.version) })
}

/// Shows a host aggregate.
#[utoipa::path(get, path = "/v2.1/os-aggregates/{id}", tag = "compute aggregates",
    params(("id" = i64, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The aggregate.", body = AggregateAnswer),
        (status = 400, description = "The id is no number."),
        (status = 404, description = "There is no such aggregate."),
    ))]
pub async fn show(call: Call<ShowAggregate>, Id(id): Id) -> Answer {
    let image = call.image();
    shown(aggregates::find(&image, &key(&id)?)?, call.version)
}

/// Renames a host aggregate, or makes it an availability zone.
#[utoipa::path(put, path = "/v2.1/os-aggregates/{id}", tag = "compute aggregates",
    params(("id" = i64, Path, description = "Its id.")),
    request_body(content = AggregateUpdateBody,
        example = json!({"aggregate": {"name": "slow-disks"}})),
    responses(
        (status = 200, description = "The aggregate.", body = AggregateAnswer),
        (status = 400, description = "Fields that cannot be; a host is in another zone, or has \
            servers in this one."),
        (status = 404, description = "There is no such aggregate."),
        (status = 409, description = "The name is taken."),
    ))]
pub async fn update(call: Call<UpdateAggregate>, Id(id): Id, Body(body): Body) -> Answer {
    let data = parse(&body, &schemas::UPDATE_AGGREGATE)?;
    let key = key(&id)?;
    let wanted = &data["aggregate"];
    check_zone("aggregate", wanted)?;
    let update = AggregateUpdate {
        name: text_of(wanted, "name").map(|name| name.trim().to_owned()),
        availability_zone: text_of(wanted, ZONE),
        ..AggregateUpdate::default()
    };
    change(&call, &key, update).await
}

/// Deletes a host aggregate that has no hosts.
#[utoipa::path(delete, path = "/v2.1/os-aggregates/{id}", tag = "compute aggregates",
    params(("id" = i64, Path, description = "Its id.")),
    responses(
        (status = 200, description = "It is gone."),
        (status = 400, description = "It has hosts, or the id is no number."),
        (status = 404, description = "There is no such aggregate."),
    ))]
pub async fn delete(call: Call<DeleteAggregate>, Id(id): Id) -> Answer {
    let key = key(&id)?;
    let deleted = call.api().scheduler.delete_aggregate(call.call(), &key).await;
    deleted.map_err(|error| refusal(error, Code::BadRequest))?;
    bare(StatusCode::OK)
}

/// What can be done to an aggregate by an action.
#[derive(Clone, Copy)]
enum Act {
    AddHost,
    RemoveHost,
    SetMetadata,
}

/// The actions: name, rule, what the body must look like.
const ACTIONS: [(&str, Act, &str, &Schema); 3] = [
    ("add_host", Act::AddHost, "os_compute_api:os-aggregates:add_host", &schemas::ADD_HOST),
    (
        "remove_host",
        Act::RemoveHost,
        "os_compute_api:os-aggregates:remove_host",
        &schemas::REMOVE_HOST,
    ),
    (
        "set_metadata",
        Act::SetMetadata,
        "os_compute_api:os-aggregates:set_metadata",
        &schemas::SET_METADATA,
    ),
];

/// Adds a host, takes one out, or changes metadata: keys that are named are
/// set, or deleted with null; others stay.
#[utoipa::path(post, path = "/v2.1/os-aggregates/{id}/action", tag = "compute aggregates",
    params(("id" = i64, Path, description = "Its id.")),
    request_body(content = ActionBody, description = "One action.",
        example = json!({"set_metadata": {"metadata": {"ssd": "true", "color": null}}})),
    responses(
        (status = 200, description = "The aggregate.", body = AggregateAnswer),
        (status = 400, description = "No such action, or fields that cannot be."),
        (status = 404, description = "There is no such aggregate or host, or it is not in it."),
        (status = 409, description = "The host is in it already, is in another zone, or has \
            servers in its zone."),
    ))]
pub async fn act(call: Call<ActOnAggregate>, Id(id): Id, Body(body): Body) -> Answer {
    let data = read(&body)?;
    let (name, act, rule, schema) = action(&data)?;
    check(&data, schema)?;
    call.may(rule, Target(&[]))?;
    let key = key(&id)?;
    let (scheduler, asked) = (&call.api().scheduler, &data[name]);
    let host = text_of(asked, "host").unwrap_or_default();
    let row = match act {
        Act::AddHost => scheduler.add_known_to_aggregate(call.call(), &key, &host).await,
        Act::RemoveHost => scheduler.remove_from_aggregate(call.call(), &key, &host).await,
        Act::SetMetadata => {
            check_zone("set_metadata.metadata", &asked["metadata"])?;
            let metadata = asked["metadata"].as_object().into_iter().flatten();
            let metadata = metadata.map(|(key, value)| (key.clone(), value.as_str()));
            let update = AggregateUpdate {
                metadata: metadata.map(|(key, value)| (key, value.map(str::to_owned))).collect(),
                ..AggregateUpdate::default()
            };
            return change(&call, &key, update).await;
        }
    };
    shown(&row.map_err(|error| refusal(error, Code::Conflict))?, call.version)
}

/// Caches images on the hosts of an aggregate. This service does not reach the
/// compute services that would do it, so it says so.
#[utoipa::path(post, path = "/v2.1/os-aggregates/{id}/images", tag = "compute aggregates",
    params(("id" = i64, Path, description = "Its id.")),
    extensions(("x-openstack" = json!({"min-ver": "2.81"}))),
    request_body(content = ImagesBody),
    responses(
        (status = 400, description = "An image stands twice, or fields that cannot be."),
        (status = 404, description = "There is no such aggregate."),
        (status = 501, description = "Images are not cached through this service."),
    ))]
pub async fn cache(call: Call<CacheImages>, Id(id): Id, Body(body): Body) -> Answer {
    let data = parse(&body, &schemas::CACHE_IMAGES)?;
    let key = key(&id)?;
    let mut seen = BTreeSet::new();
    for (place, image) in data["cache"].as_array().into_iter().flatten().enumerate() {
        let id = text_of(image, "id").unwrap_or_default();
        if !seen.insert(id.to_lowercase()) {
            return Err(Failure::bad_request(format!(
                "Duplicate images in request: cache[{place}].id is {id}: expected each image once"
            )));
        }
    }
    let image = call.image();
    let row = aggregates::find(&image, &key)?;
    Err(Failure::new(
        Code::NotImplemented,
        format!(
            "Images are not cached on the hosts of aggregate {}: stowplan does not reach compute \
             services. The compute service of the cloud caches them.",
            row.id
        ),
    ))
}

/// The one action of a body.
fn action(data: &Value) -> Result<(&'static str, Act, &'static str, &'static Schema), Failure> {
    let names: Vec<&str> =
        data.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let known = ACTIONS.iter().find(|(name, ..)| names == [*name]).copied();
    known.ok_or_else(|| {
        let expected: Vec<&str> = ACTIONS.iter().map(|(name, ..)| *name).collect();
        Failure::bad_request(format!(
            "There is no such action: {}: expected one of {}",
            if names.is_empty() { "none is named".to_owned() } else { names.join(", ") },
            expected.join(", ")
        ))
    })
}

async fn change<O>(call: &Call<O>, key: &str, update: AggregateUpdate) -> Answer {
    let changed = call.api().scheduler.update_aggregate(call.call(), key, update).await;
    shown(&changed.map_err(|error| refusal(error, Code::BadRequest))?, call.version)
}

fn shown(row: &HostAggregateRow, version: Microversion) -> Answer {
    json(&AggregateAnswer { aggregate: ComputeAggregate::of(row, version) })
}

/// A zone is not taken away: an aggregate that is one stays one, as with the
/// peer.
fn check_zone(place: &str, wanted: &Value) -> Result<(), Failure> {
    match wanted.get(ZONE) {
        Some(zone) if zone.as_str().is_none_or(str::is_empty) => {
            Err(Failure::bad_request(format!(
                "Invalid input for field/attribute {place}.{ZONE}. Value: {zone}. expected the \
                 name of a zone: an aggregate does not support an empty one"
            )))
        }
        _ => Ok(()),
    }
}

/// The key of an aggregate: its id, and nothing else here.
fn key(id: &str) -> Result<String, Failure> {
    let number = number(id).map_err(Failure::bad_request)?;
    let number = number.ok_or_else(|| SchedulerError::AggregateNotFound(id.to_owned()))?;
    Ok(number.to_string())
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

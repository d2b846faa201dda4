//! `/v1/aggregates`: host aggregates, mirrored into Placement.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{
    body::Body,
    failure::Failure,
    placement::path::{Pair, Part},
};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_ledger::{Image, rows::HostAggregateRow};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::{
    aggregates::{self, AggregateUpdate, NewAggregate},
    hosts::{ZONE, unknown},
};
use utoipa::ToSchema;

/// A host aggregate.
#[derive(Debug, Serialize, ToSchema)]
pub struct Aggregate {
    /// Its id in the compute API.
    id: i64,
    /// Its uuid, which is that of the mirrored Placement aggregate too.
    uuid: Uuid,
    /// Its name.
    name: String,
    /// The availability zone that it makes.
    availability_zone: Option<String>,
    /// Names of its hosts, in order of joining.
    hosts: Vec<String>,
    /// Those of them that nobody has reported yet.
    unknown_hosts: Vec<String>,
    /// Metadata.
    metadata: BTreeMap<String, String>,
    /// When it was made, microseconds since the epoch.
    created: Micros,
    /// When it was last changed.
    updated: Micros,
}

/// Host aggregates.
#[derive(Debug, Serialize, ToSchema)]
pub struct AggregateList {
    aggregates: Vec<Aggregate>,
}

impl Aggregate {
    fn of(image: &Image, row: &HostAggregateRow) -> Self {
        Self {
            id: row.id,
            uuid: row.uuid,
            name: row.name.clone(),
            availability_zone: row.metadata.get(ZONE).cloned(),
            hosts: row.hosts.clone(),
            unknown_hosts: unknown(image, &row.hosts),
            metadata: row.metadata.clone(),
            created: row.created,
            updated: row.updated,
        }
    }
}

fn shown(caller: &Caller, status: StatusCode, row: &HostAggregateRow) -> HttpResponse {
    json(status, &Aggregate::of(&caller.api().ledger.image(), row))
}

/// Lists host aggregates, in order of their ids.
#[utoipa::path(get, path = "/v1/aggregates", tag = "aggregates", security(("token" = [])),
    responses((status = 200, description = "All host aggregates.", body = AggregateList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:aggregates:list")?;
    Params::of(&request)?.finish()?;
    let image = caller.api().ledger.image();
    let aggregates = image.host_aggregates.iter().map(|row| Aggregate::of(&image, row)).collect();
    Ok(json(StatusCode::OK, &AggregateList { aggregates }))
}

/// Makes a host aggregate. Its hosts may be reported later: they join then.
#[utoipa::path(post, path = "/v1/aggregates", tag = "aggregates", security(("token" = [])),
    request_body(content = NewAggregate, example = json!({
        "name": "fast-disks", "availability_zone": "east",
        "metadata": {"ssd": "true", "ram_weight_multiplier": "2.0"},
        "hosts": ["compute-1", "compute-2"],
    })),
    responses(
        (status = 201, description = "The aggregate.", body = Aggregate),
        (status = 400, description = "Fields that cannot be."),
        (status = 409, description = "The name is taken, or a host is in another zone."),
    ))]
pub async fn create(caller: Caller, Body(body): Body) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:aggregates:create")?;
    let new = aggregates::read_new_aggregate(&body)?;
    let row = caller.api().scheduler.create_aggregate(caller.call(), new).await?;
    Ok(shown(&caller, StatusCode::CREATED, &row))
}

/// Shows a host aggregate.
#[utoipa::path(get, path = "/v1/aggregates/{aggregate}", tag = "aggregates",
    security(("token" = [])),
    params(("aggregate" = String, Path, description = "Its id or uuid.")),
    responses(
        (status = 200, description = "The aggregate.", body = Aggregate),
        (status = 404, description = "There is no such aggregate."),
    ))]
pub async fn show(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:aggregates:show")?;
    let image = caller.api().ledger.image();
    let row = aggregates::find(&image, &key)?;
    Ok(json(StatusCode::OK, &Aggregate::of(&image, row)))
}

/// Renames a host aggregate, or changes its metadata: keys that are named are
/// set, or deleted with null; others stay.
#[utoipa::path(patch, path = "/v1/aggregates/{aggregate}", tag = "aggregates",
    security(("token" = [])),
    params(("aggregate" = String, Path, description = "Its id or uuid.")),
    request_body(content = AggregateUpdate,
        example = json!({"metadata": {"ssd": null, "cpu_weight_multiplier": "0.5"}})),
    responses(
        (status = 200, description = "The aggregate.", body = Aggregate),
        (status = 404, description = "There is no such aggregate."),
        (status = 409, description = "The name is taken, or a host is in another zone."),
    ))]
pub async fn update(
    caller: Caller,
    Part(key): Part,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:aggregates:update")?;
    let update = aggregates::read_update(&body)?;
    let row = caller.api().scheduler.update_aggregate(caller.call(), &key, update).await?;
    Ok(shown(&caller, StatusCode::OK, &row))
}

/// Deletes a host aggregate that has no hosts.
#[utoipa::path(delete, path = "/v1/aggregates/{aggregate}", tag = "aggregates",
    security(("token" = [])),
    params(("aggregate" = String, Path, description = "Its id or uuid.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such aggregate."),
        (status = 409, description = "It has hosts."),
    ))]
pub async fn delete(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:aggregates:delete")?;
    caller.api().scheduler.delete_aggregate(caller.call(), &key).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Adds a host, with all its nodes. Adding it again changes nothing.
#[utoipa::path(put, path = "/v1/aggregates/{aggregate}/hosts/{host}", tag = "aggregates",
    security(("token" = [])),
    params(
        ("aggregate" = String, Path, description = "Its id or uuid."),
        ("host" = String, Path, description = "Name of the host, reported already or later."),
    ),
    responses(
        (status = 200, description = "The aggregate.", body = Aggregate),
        (status = 404, description = "There is no such aggregate."),
        (status = 409, description = "The host is in another zone, or has servers in its zone."),
    ))]
pub async fn add_host(caller: Caller, Pair(key, host): Pair) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:aggregates:add_host")?;
    let joined = caller.api().scheduler.add_to_aggregate(caller.call(), &key, &host).await?;
    Ok(shown(&caller, StatusCode::OK, &joined.row))
}

/// Takes a host out.
#[utoipa::path(delete, path = "/v1/aggregates/{aggregate}/hosts/{host}", tag = "aggregates",
    security(("token" = [])),
    params(
        ("aggregate" = String, Path, description = "Its id or uuid."),
        ("host" = String, Path, description = "Name of the host."),
    ),
    responses(
        (status = 200, description = "The aggregate.", body = Aggregate),
        (status = 404, description = "There is no such aggregate, or the host is not in it."),
        (status = 409, description = "The host has servers in this zone."),
    ))]
pub async fn remove_host(caller: Caller, Pair(key, host): Pair) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:aggregates:remove_host")?;
    let row = caller.api().scheduler.remove_from_aggregate(caller.call(), &key, &host).await?;
    Ok(shown(&caller, StatusCode::OK, &row))
}

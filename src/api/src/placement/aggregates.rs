//! `/resource_providers/{uuid}/aggregates`.

use super::{
    call::{Answer, Call, parse, provider_uuid},
    document::AggregatesBody,
    fields::{int_of, items},
    operations::{ListAggregates, SetAggregates},
    path::Part,
    schemas,
    view::Aggregates,
};
use crate::{body::Body, schema::lenient_uuid};
use serde_json::Value;
use stowplan_model::Uuid;
use stowplan_placement::{membership::set_aggregates, names::provider};

/// Lists the aggregates of a provider.
#[utoipa::path(get, path = "/resource_providers/{uuid}/aggregates", tag = "aggregates",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    extensions(("x-openstack" = json!({"min-ver": "1.1"}))),
    responses(
        (status = 200, description = "The aggregates.", body = Aggregates),
        (status = 404, description = "There is no such provider."),
    ))]
pub async fn list(call: Call<ListAggregates>, Part(uuid): Part) -> Answer {
    let image = call.image();
    let at = provider(&image, provider_uuid(&uuid)?)?;
    let numbers = image.providers.get(at).map(|provider| provider.aggregates.clone());
    let numbers = numbers.unwrap_or_default();
    let uuids = numbers.iter().map(|&number| image.aggregates.uuid(number)).collect();
    let generation = image.providers.generation(at);
    call.json(&Aggregates::new(uuids, generation, call.version), call.now())
}

/// Replaces the aggregates of a provider.
#[utoipa::path(put, path = "/resource_providers/{uuid}/aggregates", tag = "aggregates",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    extensions(("x-openstack" = json!({"min-ver": "1.1"}))),
    request_body(content = AggregatesBody, description = "Before 1.19: the list alone."),
    responses(
        (status = 200, description = "The aggregates.", body = Aggregates),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "The generation has moved on (from 1.19 on)."),
    ))]
pub async fn set(call: Call<SetAggregates>, Part(text): Part, Body(body): Body) -> Answer {
    let uuid = provider_uuid(&text)?;
    provider(&call.image(), uuid)?;
    let data = parse(&body, schemas::aggregates(call.version))?;
    let given = int_of(&data, "resource_provider_generation");
    let listed = if data.is_array() { Some(&data) } else { data.get("aggregates") };
    let uuids = items(listed).iter().filter_map(Value::as_str).filter_map(lenient_uuid);
    let uuids: Vec<Uuid> = uuids.collect();
    let proposed = uuids.clone();
    let generation =
        call.write(move |image, _| set_aggregates(image, uuid, given, &proposed)).await?;
    call.json(&Aggregates::new(uuids, generation, call.version), call.now())
}

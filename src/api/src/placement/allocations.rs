//! `/allocations`, and the allocations of a provider.

use super::{
    call::{Answer, Call, parse, provider_uuid},
    claims::{consumer_claim, consumer_claims, consumer_uuid},
    document::{AllocationsBody, ManyAllocationsBody},
    fields::object,
    operations::{
        DeleteAllocations, PostAllocations, ProviderAllocations as OfProvider, PutAllocations,
        ShowAllocations,
    },
    path::Part,
    schemas,
    view::{ConsumerAllocations, ProviderAllocations},
};
use crate::{body::Body, failure::Failure, schema::lenient_uuid};
use stowplan_placement::{
    claims::{delete_allocations, replace_allocations, replace_many},
    names::provider,
};

/// Shows what a consumer holds.
#[utoipa::path(get, path = "/allocations/{consumer_uuid}", tag = "allocations",
    params(("consumer_uuid" = Uuid, Path, description = "The consumer.")),
    responses((status = 200, description = "What it holds; nothing for one that is not known.",
        body = ConsumerAllocations<'static>)))]
pub async fn show(call: Call<ShowAllocations>, Part(consumer): Part) -> Answer {
    let image = call.image();
    let consumer = lenient_uuid(&consumer).and_then(|uuid| image.consumers.get(uuid));
    let modified = consumer.map_or_else(|| call.now(), |consumer| consumer.updated);
    let consumer = consumer.map(AsRef::as_ref);
    call.json(&ConsumerAllocations::new(&image, consumer, call.version), modified)
}

/// Replaces what a consumer holds.
#[utoipa::path(put, path = "/allocations/{consumer_uuid}", tag = "allocations",
    params(("consumer_uuid" = Uuid, Path, description = "The consumer.")),
    request_body(content = AllocationsBody),
    responses(
        (status = 204, description = "It holds this now."),
        (status = 409, description = "It does not fit, or a generation has moved on."),
    ))]
pub async fn put(call: Call<PutAllocations>, Part(consumer): Part, Body(body): Body) -> Answer {
    let consumer = consumer_uuid(&consumer)?;
    let data = parse(&body, schemas::put_allocations(call.version))?;
    let claim = consumer_claim(consumer, &data, call.version, &call.settings().placement)?;
    call.write(move |image, now| replace_allocations(image, &claim, now)).await?;
    call.done()
}

/// Replaces what several consumers hold, all or nothing.
#[utoipa::path(post, path = "/allocations", tag = "allocations",
    extensions(("x-openstack" = json!({"min-ver": "1.13"}))),
    request_body(content = ManyAllocationsBody),
    responses(
        (status = 204, description = "They hold this now."),
        (status = 409, description = "It does not fit, or a generation has moved on."),
    ))]
pub async fn post(call: Call<PostAllocations>, Body(body): Body) -> Answer {
    let data = parse(&body, schemas::post_allocations(call.version))?;
    let claims = consumer_claims(object(&data), call.version, &call.settings().placement)?;
    call.write(move |image, now| replace_many(image, &claims, now)).await?;
    call.done()
}

/// Takes away all that a consumer holds.
#[utoipa::path(delete, path = "/allocations/{consumer_uuid}", tag = "allocations",
    params(("consumer_uuid" = Uuid, Path, description = "The consumer.")),
    responses(
        (status = 204, description = "It holds nothing now."),
        (status = 404, description = "It held nothing."),
    ))]
pub async fn delete(call: Call<DeleteAllocations>, Part(text): Part) -> Answer {
    let consumer = lenient_uuid(&text)
        .ok_or_else(|| Failure::not_found(format!("No allocations for consumer '{text}'")))?;
    call.write(move |image, _| delete_allocations(image, consumer)).await?;
    call.done()
}

/// Shows who holds what of a provider.
#[utoipa::path(get, path = "/resource_providers/{uuid}/allocations", tag = "allocations",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    responses(
        (status = 200, description = "Who holds what.", body = ProviderAllocations<'static>),
        (status = 404, description = "There is no such provider."),
    ))]
pub async fn of_provider(call: Call<OfProvider>, Part(uuid): Part) -> Answer {
    let image = call.image();
    let at = provider(&image, provider_uuid(&uuid)?)?;
    let updated = image.consumers.of_provider(at).map(|consumer| consumer.updated);
    let modified = updated.max().unwrap_or_else(|| call.now());
    call.json(&ProviderAllocations::new(&image, at, call.version), modified)
}

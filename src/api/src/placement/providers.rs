//! `/resource_providers`.

use super::{
    call::{Answer, Call, parse, provider_uuid},
    document::{ProviderBody, ProviderUpdateBody},
    fields::{text_of, uuid_of},
    operations::{CreateProvider, DeleteProvider, ListProviders, ShowProvider, UpdateProvider},
    path::Part,
    query::provider_filter,
    schemas,
    view::{ProviderView, Providers},
};
use crate::{
    body::Body, failure::Failure, json::Write as _, schema::lenient_uuid, version::Feature,
};
use actix_web::{HttpRequest, http::StatusCode};
use stowplan_model::Uuid;
use stowplan_placement::{
    PlacementError,
    names::provider,
    providers::{NewProvider, ProviderUpdate, create_provider, delete_provider, update_provider},
    queries::list_providers,
};

/// Lists resource providers.
#[utoipa::path(get, path = "/resource_providers", tag = "resource providers",
    params(
        ("name" = Option<String>, Query, description = "The provider of this name."),
        ("uuid" = Option<Uuid>, Query, description = "The provider of this uuid."),
        ("member_of" = Option<String>, Query, description = "An aggregate, `in:` and several, or `!` and those to keep out of (from 1.3 on)."),
        ("resources" = Option<String>, Query, description = "`CLASS:AMOUNT,...` that must fit (from 1.4 on)."),
        ("in_tree" = Option<Uuid>, Query, description = "A provider of the tree (from 1.14 on)."),
        ("required" = Option<String>, Query, description = "Traits, `!` before forbidden ones, or `in:` and alternatives (from 1.18 on)."),
    ),
    responses((status = 200, description = "The providers.", body = Providers<'static>)))]
pub async fn list(call: Call<ListProviders>, request: HttpRequest) -> Answer {
    let filter = provider_filter(request.query_string(), call.version)?;
    let image = call.image();
    let found = list_providers(&image, &filter)?;
    let updated = found.iter().filter_map(|&at| image.providers.get(at)).map(|row| row.updated);
    let modified = updated.max().unwrap_or_else(|| call.now());
    let base = call.base();
    let view = Providers::new(&image, &found, call.version, &base);
    call.written(view.to_text(), modified)
}

/// Creates a resource provider.
#[utoipa::path(post, path = "/resource_providers", tag = "resource providers",
    request_body(content = ProviderBody),
    responses(
        (status = 200, description = "The provider (from 1.20 on).", body = ProviderView<'static>),
        (status = 201, description = "It was created (before 1.20).", headers(("Location" = String))),
        (status = 409, description = "The name or uuid is taken."),
    ))]
pub async fn create(call: Call<CreateProvider>, Body(body): Body) -> Answer {
    let data = parse(&body, schemas::provider_create(call.version))?;
    let new = NewProvider {
        uuid: uuid_of(&data, "uuid").unwrap_or_else(Uuid::new_v4),
        name: text_of(&data, "name").unwrap_or_default().to_owned(),
        parent: uuid_of(&data, "parent_provider_uuid"),
    };
    let row = call.write(move |image, now| create_provider(image, &new, now)).await?;
    let base = call.base();
    let location = Some(format!("{base}/resource_providers/{}", row.uuid));
    if call.version.has(Feature::CreatedProviderBody) {
        let view = ProviderView::of_row(&row, call.version, &base);
        call.written_with(StatusCode::OK, view.to_text(), row.updated, location)
    } else {
        call.bare(StatusCode::CREATED, location, None)
    }
}

/// Shows a resource provider.
#[utoipa::path(get, path = "/resource_providers/{uuid}", tag = "resource providers",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    responses(
        (status = 200, description = "The provider.", body = ProviderView<'static>),
        (status = 404, description = "There is no such provider."),
    ))]
pub async fn show(call: Call<ShowProvider>, Part(uuid): Part) -> Answer {
    let image = call.image();
    let at = provider(&image, provider_uuid(&uuid)?)?;
    let base = call.base();
    let view =
        ProviderView::of_image(&image, at, call.version, &base).ok_or_else(|| missing(&uuid))?;
    let modified = image.providers.get(at).map_or_else(|| call.now(), |row| row.updated);
    call.written(view.to_text(), modified)
}

/// Renames a resource provider or moves it to another place in the trees.
#[utoipa::path(put, path = "/resource_providers/{uuid}", tag = "resource providers",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    request_body(content = ProviderUpdateBody),
    responses(
        (status = 200, description = "The provider.", body = ProviderView<'static>),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "The name is taken."),
    ))]
pub async fn update(call: Call<UpdateProvider>, Part(text): Part, Body(body): Body) -> Answer {
    let uuid = provider_uuid(&text)?;
    provider(&call.image(), uuid)?;
    let data = parse(&body, schemas::provider_update(call.version))?;
    let parent =
        data.get("parent_provider_uuid").map(|parent| parent.as_str().and_then(lenient_uuid));
    let update = ProviderUpdate {
        name: text_of(&data, "name").unwrap_or_default().to_owned(),
        parent,
        reparenting: call.version.has(Feature::Reparenting),
    };
    let row = call.write(move |image, now| update_provider(image, uuid, &update, now)).await?;
    let base = call.base();
    let view = ProviderView::of_row(&row, call.version, &base);
    call.written(view.to_text(), row.updated)
}

/// Deletes a resource provider that nobody holds anything of.
#[utoipa::path(delete, path = "/resource_providers/{uuid}", tag = "resource providers",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "It has children or allocations."),
    ))]
pub async fn delete(call: Call<DeleteProvider>, Part(text): Part) -> Answer {
    let uuid = lenient_uuid(&text).ok_or_else(|| {
        Failure::not_found(format!("No resource provider with uuid {text} found for delete"))
    })?;
    call.write(move |image, _| delete_provider(image, uuid)).await?;
    call.done()
}

fn missing(uuid: &str) -> Failure {
    match lenient_uuid(uuid) {
        Some(uuid) => PlacementError::ProviderNotFound { uuid }.into(),
        None => Failure::no_route(),
    }
}

//! `/resource_providers/{uuid}/inventories`.

use super::{
    call::{Answer, Call, parse, provider_uuid},
    document::{InventoriesBody, InventoryBody, InventoryCreateBody},
    fields::{int_of, inventories, inventory, text_of},
    operations::{
        CreateInventory, DeleteInventories, DeleteInventory, ListInventories, SetInventories,
        ShowInventory, UpdateInventory,
    },
    path::{Pair, Part},
    schemas::{INVENTORY_CREATE, INVENTORY_SET, INVENTORY_UPDATE},
    view::{ProviderInventories, ProviderInventory},
};
use crate::{
    body::Body,
    failure::Failure,
    version::{Feature, Version},
};
use actix_web::http::StatusCode;
use stowplan_model::Inventory;
use stowplan_placement::{
    inventories::{
        Reserving, add_inventory, delete_inventories, delete_inventory, set_inventories,
        set_inventory,
    },
    names::provider,
};

fn reserving(version: Version) -> Reserving {
    if version.has(Feature::ReservedEqualsTotal) {
        Reserving::UpToTotal
    } else {
        Reserving::LessThanTotal
    }
}

fn view(inventory: &Inventory, generation: i64) -> ProviderInventory {
    ProviderInventory { inventory: inventory.into(), resource_provider_generation: generation }
}

/// Lists the inventories of a provider.
#[utoipa::path(get, path = "/resource_providers/{uuid}/inventories", tag = "inventories",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    responses(
        (status = 200, description = "The inventories.", body = ProviderInventories<'static>),
        (status = 404, description = "There is no such provider."),
    ))]
pub async fn list(call: Call<ListInventories>, Part(uuid): Part) -> Answer {
    let image = call.image();
    let at = provider(&image, provider_uuid(&uuid)?)?;
    let has_some = image.providers.get(at).is_some_and(|provider| !provider.classes.is_empty());
    let modified = has_some.then(|| call.now());
    call.json(&ProviderInventories::of_image(&image, at), modified)
}

/// Adds an inventory to a provider.
#[utoipa::path(post, path = "/resource_providers/{uuid}/inventories", tag = "inventories",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    request_body(content = InventoryCreateBody),
    responses(
        (status = 201, description = "The inventory.", body = ProviderInventory, headers(("Location" = String))),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "The provider has an inventory of the class."),
    ))]
pub async fn create(call: Call<CreateInventory>, Part(text): Part, Body(body): Body) -> Answer {
    let uuid = provider_uuid(&text)?;
    provider(&call.image(), uuid)?;
    let data = parse(&body, &INVENTORY_CREATE)?;
    let class = text_of(&data, "resource_class").unwrap_or_default().to_owned();
    let (new, reserving) = (inventory(&data), reserving(call.version));
    let location = format!("{}/resource_providers/{uuid}/inventories/{class}", call.base());
    let generation =
        call.write(move |image, _| add_inventory(image, uuid, &class, new, reserving)).await?;
    call.json_with(StatusCode::CREATED, &view(&new, generation), call.now(), Some(location))
}

/// Replaces all inventories of a provider.
#[utoipa::path(put, path = "/resource_providers/{uuid}/inventories", tag = "inventories",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    request_body(content = InventoriesBody),
    responses(
        (status = 200, description = "The inventories.", body = ProviderInventories<'static>),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "The generation has moved on, or what is to go is in use."),
    ))]
pub async fn set(call: Call<SetInventories>, Part(text): Part, Body(body): Body) -> Answer {
    let uuid = provider_uuid(&text)?;
    provider(&call.image(), uuid)?;
    let data = parse(&body, &INVENTORY_SET)?;
    let given = int_of(&data, "resource_provider_generation").unwrap_or_default();
    let (wanted, reserving) = (inventories(&data), reserving(call.version));
    let proposed = wanted.clone();
    let generation = call
        .write(move |image, _| set_inventories(image, uuid, given, &proposed, reserving))
        .await?;
    let modified = (!wanted.is_empty()).then(|| call.now());
    call.json(&ProviderInventories::given(&wanted, generation), modified)
}

/// Deletes all inventories of a provider.
#[utoipa::path(delete, path = "/resource_providers/{uuid}/inventories", tag = "inventories",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    extensions(("x-openstack" = json!({"min-ver": "1.5"}))),
    responses(
        (status = 204, description = "They are gone."),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "Some are in use."),
    ))]
pub async fn delete_all(call: Call<DeleteInventories>, Part(text): Part) -> Answer {
    let uuid = provider_uuid(&text)?;
    call.write(move |image, _| delete_inventories(image, uuid)).await?;
    call.done()
}

/// Shows one inventory of a provider.
#[utoipa::path(get, path = "/resource_providers/{uuid}/inventories/{resource_class}", tag = "inventories",
    params(
        ("uuid" = Uuid, Path, description = "The provider."),
        ("resource_class" = String, Path, description = "The resource class."),
    ),
    responses(
        (status = 200, description = "The inventory.", body = ProviderInventory),
        (status = 404, description = "There is no such provider or inventory."),
    ))]
pub async fn show(call: Call<ShowInventory>, names: Pair) -> Answer {
    let Pair(uuid, class) = names;
    let image = call.image();
    let at = provider(&image, provider_uuid(&uuid)?)?;
    let ix = image.classes.ix(&class);
    let inventory = ix.and_then(|class| image.providers.inventory(at, class));
    let inventory = inventory
        .ok_or_else(|| Failure::not_found(format!("No inventory of class {class} for {uuid}")))?;
    call.json(&view(inventory, image.providers.generation(at)), call.now())
}

/// Replaces one inventory of a provider.
#[utoipa::path(put, path = "/resource_providers/{uuid}/inventories/{resource_class}", tag = "inventories",
    params(
        ("uuid" = Uuid, Path, description = "The provider."),
        ("resource_class" = String, Path, description = "The resource class."),
    ),
    request_body(content = InventoryBody),
    responses(
        (status = 200, description = "The inventory.", body = ProviderInventory),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "The generation has moved on."),
    ))]
pub async fn update(call: Call<UpdateInventory>, names: Pair, Body(body): Body) -> Answer {
    let Pair(text, class) = names;
    let uuid = provider_uuid(&text)?;
    provider(&call.image(), uuid)?;
    let data = parse(&body, &INVENTORY_UPDATE)?;
    let given = int_of(&data, "resource_provider_generation").unwrap_or_default();
    let (new, reserving) = (inventory(&data), reserving(call.version));
    let generation = call
        .write(move |image, _| set_inventory(image, uuid, given, &class, new, reserving))
        .await?;
    call.json(&view(&new, generation), call.now())
}

/// Deletes one inventory of a provider.
#[utoipa::path(delete, path = "/resource_providers/{uuid}/inventories/{resource_class}", tag = "inventories",
    params(
        ("uuid" = Uuid, Path, description = "The provider."),
        ("resource_class" = String, Path, description = "The resource class."),
    ),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such provider or inventory."),
        (status = 409, description = "It is in use."),
    ))]
pub async fn delete(call: Call<DeleteInventory>, names: Pair) -> Answer {
    let Pair(text, class) = names;
    let uuid = provider_uuid(&text)?;
    call.write(move |image, _| delete_inventory(image, uuid, &class)).await?;
    call.done()
}

//! The description of the Placement API: its operations, and the schemas of
//! bodies, made from the very tables that bodies are checked against.

use super::{
    aggregates, allocations, candidates, classes, inventories, providers, reshaper, root, schemas,
    traits, usages,
};
use crate::description::{add_version_and_token, bodies};
use utoipa::{Modify, OpenApi};

bodies! {
    /// A new provider.
    ProviderBody = schemas::PROVIDER_CREATE_NESTED;
    /// A provider's new name and parent.
    ProviderUpdateBody = schemas::PROVIDER_UPDATE_NESTED;
    /// An inventory.
    InventoryBody = schemas::INVENTORY_UPDATE;
    /// A new inventory.
    InventoryCreateBody = schemas::INVENTORY_CREATE;
    /// All inventories of a provider.
    InventoriesBody = schemas::INVENTORY_SET;
    /// The aggregates of a provider.
    AggregatesBody = schemas::AGGREGATES_WITH_GENERATION;
    /// The traits of a provider.
    ProviderTraitsBody = schemas::PROVIDER_TRAITS;
    /// A resource class.
    ClassBody = schemas::CLASS;
    /// What a consumer is to hold.
    AllocationsBody = schemas::EACH_1_38;
    /// What consumers are to hold.
    ManyAllocationsBody = schemas::POST_1_38;
    /// Inventories and allocations that move together.
    ReshapeBody = schemas::RESHAPE_1_38;
}

#[derive(OpenApi)]
#[openapi(
    paths(
        root::versions,
        providers::list,
        providers::create,
        providers::show,
        providers::update,
        providers::delete,
        inventories::list,
        inventories::create,
        inventories::set,
        inventories::delete_all,
        inventories::show,
        inventories::update,
        inventories::delete,
        aggregates::list,
        aggregates::set,
        traits::of_provider,
        traits::set_of_provider,
        traits::delete_of_provider,
        usages::of_provider,
        allocations::of_provider,
        classes::list,
        classes::create,
        classes::show,
        classes::update,
        classes::delete,
        traits::list,
        traits::show,
        traits::put,
        traits::delete,
        allocations::show,
        allocations::put,
        allocations::delete,
        allocations::post,
        candidates::list,
        usages::total,
        reshaper::reshape,
    ),
    modifiers(&Placement),
    tags(
        (name = "versions", description = "The Placement API: which versions there are."),
        (name = "resource providers", description = "The Placement API: what has something to give."),
        (name = "inventories", description = "The Placement API: what a provider has."),
        (name = "aggregates", description = "The Placement API: sets of providers."),
        (name = "traits", description = "The Placement API: what a provider is."),
        (name = "usages", description = "The Placement API: what is in use."),
        (name = "allocations", description = "The Placement API: who holds what."),
        (name = "allocation candidates", description = "The Placement API: ways to meet a request."),
        (name = "resource classes", description = "The Placement API: kinds of resources."),
        (name = "reshaper", description = "The Placement API: inventories and allocations that move together."),
    ),
)]
struct Document;

/// The description of the Placement API.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// What all operations have in common: the version header and the token.
struct Placement;

impl Modify for Placement {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let about = "`placement 1.N` or `placement latest`; without it 1.0 answers.";
        add_version_and_token(document, about);
    }
}

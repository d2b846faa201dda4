//! What the Placement API refuses, with the words that its clients see.

use crate::claims::ClaimFault;
use stowplan_model::{Uuid, inventory::UnitFault};
use thiserror::Error;

/// Error codes of the Placement API, as its JSON error documents carry them.
pub mod code {
    /// No code of its own.
    pub const UNDEFINED: &str = "placement.undefined_code";
    /// An inventory that is to go still has allocations.
    pub const INVENTORY_IN_USE: &str = "placement.inventory.inuse";
    /// A generation was not the one that the caller named.
    pub const CONCURRENT_UPDATE: &str = "placement.concurrent_update";
    /// A name or uuid is taken.
    pub const DUPLICATE_NAME: &str = "placement.duplicate_name";
    /// A provider that is to go still has allocations.
    pub const PROVIDER_IN_USE: &str = "placement.resource_provider.inuse";
    /// A provider that is to go still has children.
    pub const CANNOT_DELETE_PARENT: &str = "placement.resource_provider.cannot_delete_parent";
    /// A provider that the body names does not exist.
    pub const PROVIDER_NOT_FOUND: &str = "placement.resource_provider.not_found";
}

/// Which operation on inventories was refused; it decides the first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InventoryOperation {
    /// `POST .../inventories`.
    Create,
    /// `PUT .../inventories` or `.../inventories/{class}`.
    Update,
}

impl InventoryOperation {
    fn verb(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
        }
    }
}

/// A refusal of the Placement API. The text is the `detail` that clients see.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PlacementError {
    // Resource classes.
    /// No such resource class.
    #[error("No such resource class {name}.")]
    ClassNotFound {
        /// The name that was asked for.
        name: String,
    },
    /// The class is there already (`POST /resource_classes`).
    #[error("Conflicting resource class already exists: {name}")]
    ClassExists {
        /// Its name.
        name: String,
    },
    /// The new name of a class is taken (renaming, before 1.7).
    #[error("Resource class already exists: {name}")]
    ClassNameTaken {
        /// The new name.
        name: String,
    },
    /// Standard classes cannot be renamed.
    #[error("Cannot update standard resource class {name}")]
    ClassStandardRename {
        /// Its name.
        name: String,
    },
    /// Standard classes cannot be deleted.
    #[error("Error in delete resource class: Cannot delete standard resource class {name}.")]
    ClassStandardDelete {
        /// Its name.
        name: String,
    },
    /// Some provider has an inventory of the class.
    #[error(
        "Error in delete resource class: Cannot delete resource class {name}. \
         Class is in use in inventory."
    )]
    ClassInUse {
        /// Its name.
        name: String,
    },

    // Traits.
    /// No such traits.
    #[error("No such trait(s): {names}.")]
    TraitNotFound {
        /// The names, separated by commas.
        names: String,
    },
    /// Traits that a provider is to get do not exist.
    #[error("No such trait {names}")]
    ProviderTraitNotFound {
        /// The names, separated by commas.
        names: String,
    },
    /// Standard traits cannot be deleted.
    #[error("Cannot delete standard trait {name}.")]
    TraitStandardDelete {
        /// Its name.
        name: String,
    },
    /// Some provider has the trait.
    #[error("The trait {name} is in use by a resource provider.")]
    TraitInUse {
        /// Its name.
        name: String,
    },

    // Providers.
    /// No such resource provider.
    #[error("No resource provider with uuid {uuid} found")]
    ProviderNotFound {
        /// The uuid that was asked for.
        uuid: Uuid,
    },
    /// No such resource provider to delete.
    #[error("No resource provider with uuid {uuid} found for delete")]
    ProviderNotFoundForDelete {
        /// The uuid that was asked for.
        uuid: Uuid,
    },
    /// Another provider has the uuid or the name.
    #[error("Conflicting resource provider {duplicate} already exists.")]
    ProviderExists {
        /// `uuid: ...`, `name: ...` or both.
        duplicate: String,
    },
    /// A new provider's place in the trees is impossible.
    #[error(
        "Unable to create resource provider \"{name}\", {uuid}: \
         Object action create failed because: {fault}"
    )]
    ProviderCreate {
        /// Its name.
        name: String,
        /// Its uuid.
        uuid: Uuid,
        /// What is wrong.
        fault: TreeFault,
    },
    /// A provider's new place in the trees is impossible.
    #[error(
        "Unable to save resource provider {uuid}: \
         Object action {} failed because: {fault}", fault.action()
    )]
    ProviderUpdate {
        /// Its uuid.
        uuid: Uuid,
        /// What is wrong.
        fault: TreeFault,
    },
    /// A provider with allocations cannot be deleted.
    #[error("Unable to delete resource provider {uuid}: Resource provider has allocations.")]
    ProviderInUse {
        /// Its uuid.
        uuid: Uuid,
    },
    /// A provider with children cannot be deleted.
    #[error("Unable to delete parent resource provider {uuid}: It has child resource providers.")]
    ProviderHasChildren {
        /// Its uuid.
        uuid: Uuid,
    },
    /// The provider's generation moved on (traits, aggregates).
    #[error(
        "Resource provider's generation already changed. \
         Please update the generation and try again."
    )]
    ProviderGeneration {
        /// Its generation.
        actual: i64,
        /// The one that the caller named.
        given: i64,
    },

    // Inventories.
    /// The provider's generation moved on.
    #[error("resource provider generation conflict")]
    InventoryGeneration {
        /// Its generation.
        actual: i64,
        /// The one that the caller named.
        given: i64,
    },
    /// An inventory that leaves nothing (or less) to allocate.
    #[error(
        "Unable to {} inventory for resource provider {provider}: Invalid inventory for \
         '{class}' on resource provider '{provider}'. The reserved value is greater than {}.",
        operation.verb(), if *total_allowed { "total" } else { "or equal to total" }
    )]
    InventoryCapacity {
        /// What was tried.
        operation: InventoryOperation,
        /// The provider.
        provider: Uuid,
        /// The class.
        class: String,
        /// Whether reserving all is allowed (1.26).
        total_allowed: bool,
    },
    /// `POST .../inventories` for a class that does not exist.
    #[error(
        "Unable to create inventory for resource provider {provider}: \
         No such resource class {class}."
    )]
    InventoryCreateClass {
        /// The provider.
        provider: Uuid,
        /// The class.
        class: String,
    },
    /// `PUT .../inventories` with a class that does not exist.
    #[error(
        "Unknown resource class in inventory for resource provider {provider}: \
         No such resource class {class}."
    )]
    InventorySetClass {
        /// The provider.
        provider: Uuid,
        /// The class.
        class: String,
    },
    /// `POST .../inventories` for a class that the provider has already.
    #[error(
        "Update conflict: resource provider {provider} already has an inventory of class {class}"
    )]
    InventoryExists {
        /// The provider.
        provider: Uuid,
        /// The class.
        class: String,
    },
    /// `PUT .../inventories/{class}` of a class that the provider has not.
    #[error(
        "No inventory record with resource class for resource provider {provider}: \
         No inventory of class {class} found."
    )]
    InventoryMissing {
        /// The provider.
        provider: Uuid,
        /// The class.
        class: String,
    },
    /// `DELETE .../inventories/{class}` of a class that is not there.
    #[error("No inventory of class {class} found for delete: {reason}")]
    InventoryDeleteMissing {
        /// The class.
        class: String,
        /// Whether the class or the inventory is missing.
        reason: String,
    },
    /// `PUT .../inventories` without classes that have allocations.
    #[error("update conflict: {in_use}")]
    InventorySetInUse {
        /// What is in use.
        in_use: InventoryInUse,
    },
    /// `DELETE .../inventories` while there are allocations.
    #[error("{in_use}")]
    InventoryDeleteAllInUse {
        /// What is in use.
        in_use: InventoryInUse,
    },
    /// `DELETE .../inventories/{class}` while there are allocations.
    #[error("Unable to delete inventory of class {class}: {in_use}")]
    InventoryDeleteInUse {
        /// The class.
        class: String,
        /// What is in use.
        in_use: InventoryInUse,
    },

    // Allocations.
    /// The consumer's generation is not the one that the caller named.
    #[error("consumer generation conflict - expected {} but got {}",
        generation(*expected, "null"), generation(*given, "None"))]
    ConsumerGeneration {
        /// The consumer.
        consumer: Uuid,
        /// Its generation; none if there is no such consumer.
        expected: Option<i64>,
        /// The one that the caller named; none for a new consumer.
        given: Option<i64>,
    },
    /// An allocation names a provider that does not exist.
    #[error("Allocation for resource provider '{provider}' that does not exist.")]
    AllocationProvider {
        /// The provider.
        provider: Uuid,
    },
    /// `PUT /allocations/{consumer}` with a class that does not exist.
    #[error(
        "Unable to allocate inventory for consumer {consumer}: No such resource class {class}."
    )]
    AllocationClass {
        /// The consumer.
        consumer: Uuid,
        /// The class.
        class: String,
    },
    /// `POST /allocations` with a class that does not exist.
    #[error("Unable to allocate inventory No such resource class {class}.")]
    AllocationsClass {
        /// The class.
        class: String,
    },
    /// The amounts do not fit.
    #[error("Unable to allocate inventory: {0}")]
    Claim(ClaimFault),
    /// `DELETE /allocations/{consumer}` of a consumer that holds nothing.
    #[error("No allocations for consumer '{consumer}'")]
    NoAllocations {
        /// The consumer.
        consumer: Uuid,
    },

    // Reshape.
    /// The inventories name a provider that does not exist.
    #[error(
        "Resource provider {provider} in inventories not found: \
         No resource provider with uuid {provider} found"
    )]
    ReshapeProvider {
        /// The provider.
        provider: Uuid,
    },
    /// A provider's generation moved on.
    #[error(
        "resource provider generation conflict for provider {provider}: \
         actual: {actual}, given: {given}"
    )]
    ReshapeGeneration {
        /// The provider.
        provider: Uuid,
        /// Its generation.
        actual: i64,
        /// The one that the caller named.
        given: i64,
    },
    /// A class that does not exist.
    #[error("malformed reshaper data: No such resource class {class}.")]
    ReshapeClass {
        /// The class.
        class: String,
    },
    /// More rows than one reshape may hold.
    #[error(
        "The reshape holds {rows} inventories and allocations; \
         max_reshape_rows allows {limit} in one request."
    )]
    ReshapeTooLarge {
        /// Rows in the request.
        rows: usize,
        /// `[placement] max_reshape_rows`.
        limit: usize,
    },

    // Queries.
    /// `resources` names a class that does not exist.
    #[error("Invalid resource class in resources parameter: No such resource class {class}.")]
    QueryClass {
        /// The class.
        class: String,
    },
    /// A query for allocation candidates names a trait that does not exist.
    #[error("No such trait(s): {name}.")]
    CandidateTrait {
        /// The first such name.
        name: String,
    },
    /// `required` of a list of providers names traits that do not exist.
    #[error("Invalid trait(s) in \"required\" parameter: No such trait(s): {names}.")]
    QueryTraits {
        /// The names, separated by commas.
        names: String,
    },
}

fn generation(value: Option<i64>, none: &str) -> String {
    value.map_or_else(|| none.to_owned(), |value| value.to_string())
}

/// Inventories that cannot go because there are allocations of them.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("Inventory for '{classes}' on resource provider '{provider}' in use.")]
pub struct InventoryInUse {
    /// The classes, separated by commas.
    pub classes: String,
    /// The provider.
    pub provider: Uuid,
}

/// Why a provider cannot stand where it is put.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TreeFault {
    /// The parent is the provider itself.
    #[error(
        "parent provider UUID cannot be same as UUID. \
         Please set parent provider UUID to None if there is no parent."
    )]
    OwnParent,
    /// There is no such parent.
    #[error("parent provider UUID does not exist.")]
    NoParent,
    /// The provider has another parent, and may not change it (before 1.37).
    #[error("re-parenting a provider is not currently allowed.")]
    Reparenting,
    /// The provider has a parent, and may not lose it (before 1.37).
    #[error("un-parenting a provider is not currently allowed.")]
    Unparenting,
    /// The new parent stands below the provider.
    #[error("creating loop in the provider tree is not allowed.")]
    Loop,
}

impl TreeFault {
    fn action(self) -> &'static str {
        match self {
            // The peer answers a missing parent with this word on update too.
            Self::OwnParent | Self::NoParent => "create",
            Self::Reparenting | Self::Unparenting | Self::Loop => "update",
        }
    }
}

impl PlacementError {
    /// HTTP status of the refusal.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.row().0
    }

    /// Placement's error code (shown from 1.23 on).
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.row().1
    }

    /// How an amount breaks the unit rules, where that is the reason.
    #[must_use]
    pub fn unit_fault(&self) -> Option<UnitFault> {
        match self {
            Self::Claim(ClaimFault::Units { fault, .. }) => Some(*fault),
            _ => None,
        }
    }

    /// The table of refusals: status and code.
    fn row(&self) -> (u16, &'static str) {
        use PlacementError as E;
        match self {
            E::ClassNotFound { .. }
            | E::TraitNotFound { .. }
            | E::ProviderNotFound { .. }
            | E::ProviderNotFoundForDelete { .. }
            | E::InventoryDeleteMissing { .. }
            | E::NoAllocations { .. } => (404, code::UNDEFINED),

            E::ClassStandardRename { .. }
            | E::ClassStandardDelete { .. }
            | E::ProviderTraitNotFound { .. }
            | E::TraitStandardDelete { .. }
            | E::ProviderCreate { .. }
            | E::ProviderUpdate { .. }
            | E::InventoryCapacity { .. }
            | E::InventoryCreateClass { .. }
            | E::InventorySetClass { .. }
            | E::InventoryMissing { .. }
            | E::AllocationProvider { .. }
            | E::AllocationClass { .. }
            | E::AllocationsClass { .. }
            | E::ReshapeClass { .. }
            | E::ReshapeTooLarge { .. }
            | E::QueryClass { .. }
            | E::CandidateTrait { .. }
            | E::QueryTraits { .. } => (400, code::UNDEFINED),
            E::ReshapeProvider { .. } => (400, code::PROVIDER_NOT_FOUND),

            E::ClassExists { .. }
            | E::ClassNameTaken { .. }
            | E::ClassInUse { .. }
            | E::TraitInUse { .. }
            | E::Claim(_) => (409, code::UNDEFINED),
            E::ProviderExists { .. } => (409, code::DUPLICATE_NAME),
            E::ProviderInUse { .. } => (409, code::PROVIDER_IN_USE),
            E::ProviderHasChildren { .. } => (409, code::CANNOT_DELETE_PARENT),
            E::InventorySetInUse { .. } | E::InventoryDeleteAllInUse { .. } => {
                (409, code::INVENTORY_IN_USE)
            }
            E::ProviderGeneration { .. }
            | E::InventoryGeneration { .. }
            | E::InventoryExists { .. }
            | E::InventoryDeleteInUse { .. }
            | E::ConsumerGeneration { .. }
            | E::ReshapeGeneration { .. } => (409, code::CONCURRENT_UPDATE),
        }
    }
}

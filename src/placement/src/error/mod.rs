//! What the Placement API refuses, with the words that its clients see.

mod faults;
mod table;

pub use faults::{InventoryInUse, InventoryOperation, TreeFault};
pub use table::code;

use crate::claims::ClaimFault;
use stowplan_model::Uuid;
use thiserror::Error;

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
    /// One call claims for the same consumer twice: its uuid can be spelt in
    /// several ways.
    #[error("Unable to allocate inventory: consumer {consumer} is named more than once.")]
    ConsumerTwice {
        /// The consumer.
        consumer: Uuid,
    },
    /// What the consumer holds is a batch task's: it goes when the task does.
    #[error(
        "Unable to allocate inventory: consumer {consumer} is a task of a batch job, which alone \
         may change what it holds: cancel the job instead."
    )]
    HeldByTask {
        /// The consumer.
        consumer: Uuid,
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

    /// A query for candidates that has more than may be given at once.
    #[error(
        "The query has more than {candidates} allocation candidates, which would take more than \
         {most_mb} MiB ([api] max_candidates_mb): ask with a limit."
    )]
    TooManyCandidates {
        /// Those made so far.
        candidates: usize,
        /// What may be taken, in MiB.
        most_mb: u64,
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

//! The one table of refusals: HTTP status and Placement's error code.

use super::PlacementError;
use crate::claims::ClaimFault;
use stowplan_model::inventory::UnitFault;

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
            | E::ConsumerTwice { .. }
            | E::TooManyCandidates { .. }
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
            | E::HeldByTask { .. }
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

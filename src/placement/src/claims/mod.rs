//! Allocations: what consumers hold, replaced whole per consumer.
//!
//! A claim names everything that its consumer is to hold. All claims of one
//! call are judged together, against what everybody else holds: either all of
//! them become true in one change, or none.

mod check;
mod write;

pub(crate) use write::replace;
pub use write::{allocation_records, delete_allocations, replace_allocations, replace_many};

use smallvec::SmallVec;
use stowplan_ledger::rows::Origin;
use stowplan_model::{Uuid, inventory::UnitFault};
use thiserror::Error;

/// What a caller says about the generation of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsumerGeneration {
    /// Nothing: whatever is there is replaced (before 1.28).
    Unchecked,
    /// There must be no such consumer yet (`null`).
    New,
    /// The consumer exists with this generation.
    Is(i64),
}

/// Units of several classes at one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderClaim {
    /// The provider.
    pub provider: Uuid,
    /// Class names with the units wanted, each at least 1.
    pub resources: SmallVec<[(String, i64); 3]>,
}

/// Everything that one consumer is to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerClaim {
    /// The consumer.
    pub consumer: Uuid,
    /// What the caller says about its generation.
    pub generation: ConsumerGeneration,
    /// Project (external id). Where the caller's microversion has none, that of
    /// `[placement] incomplete_consumer_project_id`.
    pub project: String,
    /// User (external id); likewise.
    pub user: String,
    /// Consumer type; none leaves the consumer's type as it is (before 1.38).
    pub consumer_type: Option<String>,
    /// What it is to hold; nothing takes the consumer out.
    pub allocations: Vec<ProviderClaim>,
    /// Who makes the claim, where we make it ourselves. None keeps what is
    /// known, as long as the consumer still holds something on that host.
    pub origin: Option<Origin>,
}

/// Why amounts cannot be allocated.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ClaimFault {
    /// The provider has no inventory of the class.
    #[error("Inventory for '{classes}' on resource provider '{providers}' invalid.")]
    NoInventory {
        /// The class or classes, separated by commas.
        classes: String,
        /// The provider or providers, separated by commas.
        providers: String,
    },
    /// The amount breaks the inventory's unit bounds or step.
    #[error(
        "Unable to create allocation for '{class}' on resource provider '{provider}'. \
         The requested amount would violate inventory constraints."
    )]
    Units {
        /// The class.
        class: String,
        /// The provider.
        provider: Uuid,
        /// The amount.
        amount: i64,
        /// The rule that it breaks.
        fault: UnitFault,
    },
    /// The amount does not fit beside what others hold.
    #[error(
        "Unable to create allocation for '{class}' on resource provider '{provider}'. \
         The requested amount would exceed the capacity."
    )]
    Capacity {
        /// The class.
        class: String,
        /// The provider.
        provider: Uuid,
        /// What the claims of this call ask for in all.
        wanted: i64,
        /// What others hold.
        used: i64,
        /// What may be allocated in all.
        capacity: i64,
    },
}

//! Parts of refusals that have words of their own.

use stowplan_model::Uuid;
use thiserror::Error;

/// Which operation on inventories was refused; it decides the first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InventoryOperation {
    /// `POST .../inventories`.
    Create,
    /// `PUT .../inventories` or `.../inventories/{class}`.
    Update,
}

impl InventoryOperation {
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
        }
    }
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

/// Why a provider cannot be made, or stand where it is put.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TreeFault {
    /// A new provider has no name. (An old one may lose it, as the peer has it.)
    #[error("name is required")]
    NoName,
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
    pub(super) fn action(self) -> &'static str {
        match self {
            // The peer answers a missing parent with this word on update too.
            Self::NoName | Self::OwnParent | Self::NoParent => "create",
            Self::Reparenting | Self::Unparenting | Self::Loop => "update",
        }
    }
}

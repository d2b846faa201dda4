//! Reads: lists of providers, usages, allocations.

mod allocations;
mod providers;
mod usages;

pub use allocations::{ConsumerShare, allocations_of_provider};
pub use providers::{ProviderFilter, list_providers};
pub use usages::{ConsumerTypeFilter, UNKNOWN_TYPE, project_usages, provider_usages, type_usages};

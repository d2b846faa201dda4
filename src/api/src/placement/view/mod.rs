//! How things look in answers, written straight from the image.

mod allocations;
mod candidates;
mod inventories;
mod names;
mod providers;
mod usages;

pub use allocations::{ConsumerAllocations, ProviderAllocations};
pub use candidates::Candidates;
pub use inventories::{ProviderInventories, ProviderInventory};
pub use names::{Aggregates, Class, Classes, ProviderTraits, Traits};
pub use providers::{ProviderView, Providers};
pub use usages::{ProviderUsages, TypedUsages, Usages};

//! Query strings turned into what the placement crate asks for.

mod candidates;
mod parts;
mod providers;

pub use candidates::candidate_query;
pub use providers::provider_filter;

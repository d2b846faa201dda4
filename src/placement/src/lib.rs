//! Placement semantics over the ledger: validation, candidates, usages.
//!
//! Everything here is a pure function of an image of the ledger. A mutation is
//! a *proposal*: it checks itself against the image and gives a change with
//! what the caller wants to know, or a [`PlacementError`] with the words that
//! Placement's clients see. Microversions do not reach this crate; where they
//! differ, inputs and options say how.

pub mod candidates;
pub mod claims;
pub mod error;
pub mod inventories;
pub mod membership;
pub mod names;
mod places;
pub mod providers;
pub mod queries;
pub mod reshape;

pub use error::PlacementError;

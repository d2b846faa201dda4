//! Hosts, host aggregates, server groups and select_destinations.
//!
//! A mutation is a proposal: it checks itself against an image of the ledger
//! and gives a change with what the caller wants to know, or a
//! [`SchedulerError`].

pub mod aggregates;
pub mod body;
mod draft;
pub mod error;
pub mod fields;
pub mod hosts;

pub use error::SchedulerError;

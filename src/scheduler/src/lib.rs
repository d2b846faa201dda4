//! Hosts, host aggregates, server groups and select_destinations.
//!
//! A mutation is a proposal: it checks itself against an image of the ledger
//! and gives a change with what the caller wants to know, or a
//! [`SchedulerError`].

pub mod aggregates;
mod beside;
pub mod body;
pub mod decisions;
mod draft;
pub mod error;
mod facade;
pub mod facts;
pub mod fields;
pub mod groups;
pub mod hosts;
pub mod nova;
pub mod scenario;
pub mod select;
pub mod snapshot;

pub use error::SchedulerError;
pub use facade::{Answer, Call, Prepared, Scheduler, Written};

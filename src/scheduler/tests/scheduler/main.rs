//! The scheduler on a ledger in memory.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aggregates;
mod bounds;
mod calls;
mod cloud;
mod decisions;
mod devices;
mod facts;
mod groups;
mod hints;
mod hosts;
mod leases;
mod networks;
mod nova;
mod once;
mod parallel;
mod queries;
mod select;
mod services;
mod unlock;

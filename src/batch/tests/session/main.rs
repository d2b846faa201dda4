//! The session alone: hosts and jobs made by hand, no ledger.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bench;
mod extender;
mod fragmentation;
mod gangs;
mod hosts;
mod properties;
mod queues;
mod recorded;
mod refusals;
mod rules;
mod topology;
mod undo;
mod victims;

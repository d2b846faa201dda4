//! A cloud as a file: exported as of one image, and built again offline, so
//! that requests are decided on it by the very code that a server runs.
//!
//! What a decision depends on is all there: hosts with their live figures,
//! resource providers with what is taken of them, host aggregates, server
//! groups, services, the options that are not at their defaults, and the
//! present.

mod build;
mod candidates;
mod check;
mod export;
mod form;
mod hosts;
mod replay;

pub use build::SnapshotError;
pub use candidates::{CandidatesFault, find_candidates};
pub use check::{ExpectedDecision, check_replay};
pub use form::{Provider, Snapshot};
pub use replay::{Cloud, Replay, ReplayError, ReplayFailure, Replayed};

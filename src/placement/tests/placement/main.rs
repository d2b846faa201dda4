//! Placement semantics, from outside the crate: proposals, queries, candidates.

mod candidates;
mod claims;
mod oracle;
mod proposals;
mod queries;
mod random;
mod world;

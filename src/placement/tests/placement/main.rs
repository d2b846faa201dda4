//! Placement semantics, from outside the crate: proposals, queries, candidates.

mod candidates;
mod oracle;
mod proposals;
mod random;
mod world;

//! Placement semantics, from outside the crate: proposals, queries, candidates.

mod asking;
mod candidates;
mod claims;
mod explain;
mod hostile;
mod oracle;
mod proposals;
mod queries;
mod random;
mod world;

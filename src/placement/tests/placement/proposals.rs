//! Proposals.

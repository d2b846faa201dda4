//! Candidates of known clouds.

//! What single projects may hold at most.

use crate::amounts::{Amounts, DimIx};

/// A quota of a project, as a session knows it. A project may have several;
/// each of them holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The project, which is the namespace of its jobs.
    pub project: String,
    /// The most that it may hold, in the dimensions that the quota names; all
    /// others are not limited by it.
    pub hard: Vec<(DimIx, i64)>,
    /// What counts against it when the session begins; none: what the project's
    /// tasks hold, and what its admitted jobs still need for their minima.
    pub used: Option<Amounts>,
}

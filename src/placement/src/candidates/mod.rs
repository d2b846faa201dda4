//! Allocation candidates: the ways to meet a request.
//!
//! A query is resolved into *slots*, one choice of a provider each: one for
//! every class of the group without a suffix, one for every group with a
//! suffix. Bits computed block by block say which providers can serve which
//! slot; the candidates of a root are then a walk over the choices of its
//! tree, with tests that keep the walk out of dead ends. Everything is lazy: a
//! query costs what its reader takes from it.

mod dead;
mod explain;
mod feasible;
mod flat;
mod masks;
mod matching;
mod plan;
mod query;
mod reach;
mod roots;
mod search;
mod set;
mod sharing;
mod space;
mod summary;
mod walk;

pub use explain::{NearestMiss, Requirement, RequirementLoss, explain, unlocking};
pub use query::{Candidate, CandidateQuery, GroupPolicy, RequestGroup, Share, Strategy};
pub use search::{Candidates, Finder, RootCandidates, Search, candidates, candidates_for_host};
pub use summary::summarised;

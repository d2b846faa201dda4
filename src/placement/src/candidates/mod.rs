//! Allocation candidates: the ways to meet a request.

mod query;

pub use query::{Candidate, CandidateQuery, GroupPolicy, RequestGroup, Share, Strategy};

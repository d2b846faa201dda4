//! What is asked for, and what is answered.

use smallvec::SmallVec;
use stowplan_ledger::image::{names::Ix, providers::At};
use stowplan_model::Uuid;

/// One group of a request: `resources`, `required`, `member_of`, `in_tree`
/// with the same suffix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestGroup {
    /// The suffix. The group without one may be spread over a tree and over
    /// providers that share with it; any other is met by one provider alone.
    pub suffix: String,
    /// Class names with the units wanted. Of 0 units nothing is taken, and any
    /// provider will do that meets the rest of the group.
    pub resources: Vec<(String, i64)>,
    /// Traits: one of each set is wanted.
    pub required: Vec<Vec<String>>,
    /// Traits that no provider of the group may have.
    pub forbidden: Vec<String>,
    /// Aggregates: a provider must be in one of each set.
    pub member_of: Vec<Vec<Uuid>>,
    /// Aggregates that no provider of the group may be in.
    pub forbidden_aggregates: Vec<Uuid>,
    /// A provider (any) whose tree must meet the group.
    pub in_tree: Option<Uuid>,
}

impl RequestGroup {
    /// Whether one provider alone must meet the group.
    #[must_use]
    pub fn is_granular(&self) -> bool {
        !self.suffix.is_empty()
    }
}

/// How groups with a suffix stand to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupPolicy {
    /// They may meet on one provider.
    #[default]
    None,
    /// Each gets a provider of its own.
    Isolate,
}

/// In which order candidates are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// All candidates of one root before the next one's.
    #[default]
    DepthFirst,
    /// The first candidate of each root, then the second of each.
    BreadthFirst,
}

/// A query for allocation candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateQuery {
    /// The groups, in the order of the request; each suffix once.
    pub groups: Vec<RequestGroup>,
    /// How groups with a suffix stand to each other.
    pub group_policy: GroupPolicy,
    /// Sets of suffixes whose providers must all stand under one of them.
    pub same_subtree: Vec<Vec<String>>,
    /// Traits that the root of a candidate must have.
    pub root_required: Vec<String>,
    /// Traits that the root of a candidate must not have.
    pub root_forbidden: Vec<String>,
    /// Most candidates that are made; none: all.
    pub limit: Option<usize>,
    /// In which order candidates are made.
    pub strategy: Strategy,
    /// Seed of a random order; none: the order of the image.
    pub seed: Option<u64>,
    /// Whether a candidate may take from several providers of one tree (from
    /// 1.29 on).
    pub nested: bool,
}

impl CandidateQuery {
    /// A query of these groups, with all candidates wanted.
    #[must_use]
    pub fn new(groups: Vec<RequestGroup>) -> Self {
        Self {
            groups,
            group_policy: GroupPolicy::None,
            same_subtree: Vec::new(),
            root_required: Vec::new(),
            root_forbidden: Vec::new(),
            limit: None,
            strategy: Strategy::DepthFirst,
            seed: None,
            nested: true,
        }
    }
}

/// Units of one class taken from one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    /// The provider, by its place in the image that was searched.
    pub provider: At,
    /// The class.
    pub class: Ix,
    /// Units.
    pub amount: i64,
}

/// One way to meet a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The root of the tree that the candidate belongs to: the host.
    pub root: At,
    /// What is taken: those of one provider stand together, in the order of
    /// the request.
    pub allocations: SmallVec<[Share; 4]>,
    /// The providers that meet each group, in the order of the query's groups.
    pub mappings: SmallVec<[SmallVec<[At; 2]>; 2]>,
}

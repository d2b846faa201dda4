//! What the plugin knows of one queue.

use crate::amounts::Amounts;
use crate::plugins::quota::{Books, dominant_share};
use crate::session::QueueIx;
use std::cmp::Ordering;

/// A queue with its limits and its books, those of all queues below included.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) books: Books,
    pub(super) guarantee: Amounts,
    pub(super) deserved: Amounts,
    pub(super) real_capability: Amounts,
    /// What is guaranteed to the queues that are directly a part of it.
    pub(super) guaranteed_below: Amounts,
    /// What it is a part of, from the root on.
    pub(super) path: Vec<QueueIx>,
    /// Whether no queue is a part of it: only then it takes tasks.
    pub(super) is_leaf: bool,
    /// Whether it is the root of a tree.
    pub(super) is_root: bool,
    pub(super) share: f64,
}

impl Entry {
    /// Follows what is allocated.
    pub(super) fn refresh(&mut self) {
        self.share = share(&self.books.allocated, &self.deserved);
    }

    /// The smaller share first; of equal ones the queue that deserves
    /// something.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let shares = self.share.total_cmp(&other.share);
        shares.then_with(|| self.deserved.is_empty().cmp(&other.deserved.is_empty()))
    }

    /// Whether, with what a request asks for, it would still be within what it
    /// deserves in one dimension.
    pub(super) fn is_below_deserved(&self, request: &Amounts) -> bool {
        let future = |dim| self.books.allocated.get(dim).saturating_add(request.get(dim));
        request.asked().any(|dim| future(dim) <= self.deserved.get(dim))
    }

    /// Whether a victim uses nothing that the queue deserves at all.
    pub(super) fn deserves_none_of(&self, request: &Amounts) -> bool {
        !request.asked().any(|dim| self.deserved.get(dim) > 0)
    }
}

/// What part of what it deserves a queue holds; 1 for one that deserves
/// nothing: it is served after those that are below their right.
#[must_use]
pub fn share(allocated: &Amounts, deserved: &Amounts) -> f64 {
    if deserved.is_empty() { 1.0 } else { dominant_share(allocated, deserved) }
}

//! `[placement]`: how the Placement API answers.

use crate::macros::{choice, section};

const NIL_UUID: &str = "00000000-0000-0000-0000-000000000000";

choice! {
    /// In which order allocation candidates are made.
    CandidatesStrategy {
        /// All candidates of one root provider before the next one's.
        DepthFirst = "depth-first",
        /// The first candidate of each root provider, then the second of each.
        BreadthFirst = "breadth-first",
    }
}

section! {
    /// How the Placement API answers.
    placement: Placement = "placement" {
        /// Answer allocation candidates in random order.
        randomize_allocation_candidates: bool = false, mutable;
        /// Most allocation candidates that are made for one request; -1: no bound.
        max_allocation_candidates: i64 = -1, min(-1.0), mutable;
        /// In which order allocation candidates are made. Unset: breadth-first where
        /// the request's limit or max_allocation_candidates bounds the answer, so that
        /// it does not leave out hosts (openstack-placement: depth-first); without a
        /// bound the answer holds all candidates, in either order.
        allocation_candidates_generation_strategy: Option<CandidatesStrategy> = None, mutable;
        /// How often a write is tried again on newer state before a conflict of
        /// generations that the caller did not name is answered. The one writer
        /// checks on the newest state; the option is accepted and changes nothing.
        allocation_conflict_retry_count: u32 = 10, mutable;
        /// Project of consumers that were made before projects were recorded.
        incomplete_consumer_project_id: String = NIL_UUID.to_owned();
        /// User of consumers that were made before users were recorded.
        incomplete_consumer_user_id: String = NIL_UUID.to_owned();
        /// Most inventories and allocations that one reshape may hold.
        max_reshape_rows: u32 = 100_000, min(1.0), mutable;
    }
}

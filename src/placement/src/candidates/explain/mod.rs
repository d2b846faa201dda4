//! Why a query has no candidates, or few.

mod funnel;
mod requirement;

pub use funnel::{NearestMiss, RequirementLoss};
pub use requirement::Requirement;

use super::{Search, query::CandidateQuery};
use crate::error::PlacementError;
use funnel::Funnel;
use stowplan_ledger::Image;

/// Most requirements that are left out to see whether that helps.
const MOST_TRIED: usize = 100;

/// Takes a query apart: its requirements in a fixed order (roots; then group by
/// group tree, aggregates, traits, resources; last what binds groups to each
/// other), each with the roots before and after it. After the last one exactly
/// the roots with a candidate are left. Not for the hot path: it looks at every
/// root.
///
/// # Errors
/// A resource class or trait that does not exist, where the search minds it.
pub fn explain(
    image: &Image,
    query: &CandidateQuery,
) -> Result<Vec<RequirementLoss>, PlacementError> {
    Search::new(image, query)?;
    Ok(Funnel::new(image).losses_of(query))
}

/// Of a query that has no candidate: the requirements without which, one at a
/// time, it would have one. `losses` are those of [`explain`].
///
/// Costs a search for one candidate for each requirement up to the one that
/// left no root, at most a hundred; those after that one cannot help.
#[must_use]
pub fn unlocking(
    image: &Image,
    query: &CandidateQuery,
    losses: &[RequirementLoss],
) -> Vec<Requirement> {
    let Some(last) = losses.iter().position(|loss| loss.after == 0) else { return Vec::new() };
    let helps = |without: CandidateQuery| {
        Search::new(image, &without).is_ok_and(|mut search| search.next_root().is_some())
    };
    let tried = losses[..=last].iter().map(|loss| &loss.requirement).take(MOST_TRIED);
    tried.filter(|one| query.without(one).is_some_and(helps)).cloned().collect()
}

//! `/allocation_candidates`.

use super::{
    call::{Answer, Call},
    operations::ListCandidates,
    query::candidate_query,
    view::Candidates,
};
use crate::json::Write as _;
use actix_web::HttpRequest;
use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_placement::{
    PlacementError,
    candidates::{Candidate, CandidateQuery, candidates, summarised},
};

/// Most candidates that are made on a worker's own thread: as many take less
/// than a millisecond, and handing them over costs a good part of one when the
/// processors are busy. (It is also what Nova asks for by default.)
const INLINE_LIMIT: usize = 1000;
/// What one provider's share of a candidate takes in an answer, in bytes.
const SHARE: u64 = 400;

/// Lists the ways to meet a request.
#[utoipa::path(get, path = "/allocation_candidates", tag = "allocation candidates",
    params(
        ("resources" = Option<String>, Query, description = "`CLASS:AMOUNT,...`; with a suffix (from 1.25 on) all from one provider."),
        ("required" = Option<String>, Query, description = "Traits, `!` before forbidden ones, or `in:` and alternatives (from 1.17 on); with a suffix for that group."),
        ("member_of" = Option<String>, Query, description = "An aggregate, `in:` and several, or `!` and those to keep out of (from 1.21 on); with a suffix for that group."),
        ("in_tree" = Option<Uuid>, Query, description = "A provider of the tree (from 1.31 on); with a suffix for that group."),
        ("group_policy" = Option<String>, Query, description = "`none` or `isolate` (from 1.25 on)."),
        ("limit" = Option<u64>, Query, description = "Most candidates (from 1.16 on)."),
        ("root_required" = Option<String>, Query, description = "Traits of the root (from 1.35 on)."),
        ("same_subtree" = Option<String>, Query, description = "Suffixes whose providers stand under one of them (from 1.36 on)."),
    ),
    extensions(("x-openstack" = json!({"min-ver": "1.10"}))),
    responses((status = 200, description = "The candidates, and the providers that they are about.",
        body = Candidates<'static>)))]
pub async fn list(call: Call<ListCandidates>, request: HttpRequest) -> Answer {
    let settings = call.settings();
    let seed = || Uuid::new_v4().as_u64_pair().0;
    let query = candidate_query(request.query_string(), call.version, &settings.placement, seed)?;
    let image = call.image();
    // Without a limit even a small cloud may have any number: groups multiply.
    let small = query.limit.is_some_and(|limit| limit <= INLINE_LIMIT);
    let (version, most_mb) = (call.version, settings.api.max_candidates_mb);
    let search = move || -> Result<_, PlacementError> {
        let (found, providers) = find(&image, &query, most_mb)?;
        Ok(Candidates::new(&image, &query, &found, &providers, version).to_text())
    };
    let bytes = if small { search()? } else { call.beside(search).await?? };
    call.written(bytes, call.now())
}

fn find(
    image: &Image,
    query: &CandidateQuery,
    most_mb: u64,
) -> Result<(Vec<Candidate>, Vec<stowplan_ledger::image::providers::At>), PlacementError> {
    let mut left = most_mb.saturating_mul(1024 * 1024) / SHARE;
    let mut found: Vec<Candidate> = Vec::new();
    for candidate in candidates(image, query)? {
        let Some(rest) = left.checked_sub(candidate.allocations.len() as u64) else {
            let candidates = found.len();
            return Err(PlacementError::TooManyCandidates { candidates, most_mb });
        };
        left = rest;
        found.push(candidate);
    }
    let providers = summarised(image, &found, query.nested);
    Ok((found, providers))
}

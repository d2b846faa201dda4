//! `/v1/decisions`: why this host and not that one.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{failure::Failure, placement::path::Part};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use stowplan_scheduler::decisions::{DecisionPage, DecisionView};
use stowplan_scheduler::select::Confirmed;

/// Lists decisions, the newest first, without their bodies.
#[utoipa::path(get, path = "/v1/decisions", tag = "decisions", security(("token" = [])),
    params(
        ("request_id" = Option<String>, Query, description = "Those of one request."),
        ("limit" = Option<i64>, Query, description = "How many."),
    ),
    responses((status = 200, description = "The decisions.", body = DecisionPage)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:decisions:list")?;
    let mut params = Params::of(&request)?;
    let request_id = params.text("request_id");
    let limit = params.limit(caller.api().settings.load().api.max_limit);
    params.finish()?;
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let page = caller.api().scheduler.decisions(request_id.as_deref(), limit).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Shows a decision with its explanation: hosts before and after each filter,
/// who was left out by what and why, weights of the best hosts part by part,
/// and where nothing met the request, the nearest miss of each requirement.
#[utoipa::path(get, path = "/v1/decisions/{decision}", tag = "decisions", security(("token" = [])),
    params(("decision" = Uuid, Path, description = "Id of the decision.")),
    responses(
        (status = 200, description = "The decision.", body = DecisionView),
        (status = 404, description = "There is no such decision, or no longer."),
    ))]
pub async fn show(caller: Caller, Part(id): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:decisions:show")?;
    let decision = caller.api().scheduler.decision(&id).await?;
    Ok(json(StatusCode::OK, &decision))
}

/// Confirms the claims of a decision: their servers are being built. Where
/// `[scheduler] claim_lease` is set, claims that neither this nor a report of the
/// host confirms in time are released. It may be called again.
#[utoipa::path(post, path = "/v1/decisions/{decision}/confirm", tag = "decisions",
    security(("token" = [])),
    params(("decision" = Uuid, Path, description = "Id of the decision.")),
    responses(
        (status = 200, description = "The servers whose claims stand, and those whose claims are \
            gone.", body = Confirmed),
        (status = 404, description = "There is no such decision, or no longer."),
        (status = 409, description = "The decision claimed nothing."),
    ))]
pub async fn confirm(caller: Caller, Part(id): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:decisions:confirm")?;
    let confirmed = caller.api().scheduler.confirm(caller.call(), &id).await?;
    Ok(json(StatusCode::OK, &confirmed))
}

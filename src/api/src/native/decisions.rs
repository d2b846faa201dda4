//! `/v1/decisions`: why this host and not that one.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{failure::Failure, placement::path::Part};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use stowplan_scheduler::decisions::{DecisionPage, DecisionView};

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

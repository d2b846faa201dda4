//! `/v1/shadow`: what we would have done beside what another scheduler has done.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::failure::Failure;
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use stowplan_bus::{Comparisons, Report};

/// Shows how far shadow mode (`[scheduler] mode = shadow`) agrees with the
/// scheduler that answers, since the start of this process, and why it differs.
#[utoipa::path(get, path = "/v1/shadow", tag = "decisions", security(("token" = [])),
    params(("limit" = Option<i64>, Query, description = "How many differences.")),
    responses((status = 200, description = "The comparison.", body = Report)))]
pub async fn show(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:shadow:show")?;
    let mut params = Params::of(&request)?;
    let limit = params.limit(caller.api().settings.load().api.max_limit);
    params.finish()?;
    let none = Comparisons::default();
    let comparisons = caller.api().shadow.as_deref().unwrap_or(&none);
    Ok(json(StatusCode::OK, &comparisons.report(limit)))
}

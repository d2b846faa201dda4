//! `/v1/select_destinations`: where servers go.

use super::{caller::Caller, params::json};
use crate::{body::Body, failure::Failure};
use actix_web::{HttpResponse, http::StatusCode};
use stowplan_scheduler::select::{Destinations, SelectRequest, read_request};

/// Finds hosts for the servers of a request and claims what they need: all of
/// them in one mutation, or none.
///
/// Each selection names the host with what was claimed, and alternates if any
/// were asked for. `dry_run` decides and explains, and claims nothing. No valid
/// host is 409 with the first reasons and the id of the decision that explains
/// them.
#[utoipa::path(post, path = "/v1/select_destinations", tag = "scheduling",
    security(("token" = [])),
    request_body(content = SelectRequest, example = json!({
        "flavor": {"name": "m1.large", "vcpus": 4, "memory_mb": 8192, "root_gb": 40,
            "extra_specs": {"trait:HW_CPU_X86_AVX2": "required"}},
        "image": {"id": "0e7c0e3b-9c0d-4a53-a3ab-6f3ad0a0ee4c",
            "properties": {"hw_architecture": "x86_64"}},
        "count": 2, "availability_zone": "east", "alternates": 1,
    })),
    responses(
        (status = 200, description = "One selection for each server.", body = Destinations),
        (status = 400, description = "Fields that cannot be, or a zone or trait that is none."),
        (status = 404, description = "There is no such server group."),
        (status = 409, description = "No valid host, with `reasons` and `decision_id`; or a server \
            that changed meanwhile."),
    ))]
pub async fn select(caller: Caller, Body(body): Body) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:select_destinations")?;
    let asked = read_request(&body)?;
    let token = &caller.token;
    let owner = (token.project.as_deref().unwrap_or_default(), token.user.as_str());
    let scheduler = &caller.api().scheduler;
    let answer = scheduler.select_destinations(caller.call(), asked, owner).await?;
    Ok(json(StatusCode::OK, &answer))
}

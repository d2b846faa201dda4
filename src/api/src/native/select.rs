//! `/v1/select_destinations`: where servers go.

use super::{caller::Caller, params::json};
use crate::{body::Body, failure::Failure, media};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
};
use stowplan_scheduler::Answer;
use stowplan_scheduler::select::{Destinations, SelectRequest, read_request};

/// The header of a request that is to be answered once.
const KEY: &str = "Idempotency-Key";
/// The header of an answer that was given before.
const REPLAYED: &str = "Idempotency-Replayed";

/// Finds hosts for the servers of a request and claims what they need: all of
/// them in one mutation, or none.
///
/// With an `Idempotency-Key` the request is answered once: the same body under the
/// same key of the same caller gets the same answer again (with the header
/// `Idempotency-Replayed: true`), also when no host was found, and claims nothing
/// more, for `[api] idempotency_key_lifetime`.
///
/// Each selection names the host with what was claimed, and alternates if any
/// were asked for. `dry_run` decides and explains, and claims nothing. No valid
/// host is 409 with the first reasons and the id of the decision that explains
/// them.
#[utoipa::path(post, path = "/v1/select_destinations", tag = "scheduling",
    security(("token" = [])),
    params(("Idempotency-Key" = Option<String>, Header,
        description = "1 to 255 characters that the sender chooses for this request.")),
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
        (status = 422, description = "The `Idempotency-Key` was used for another body."),
        (status = 409, description = "No valid host, with `reasons` and `decision_id`; or a server \
            that changed meanwhile."),
    ))]
pub async fn select(
    caller: Caller,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:select_destinations")?;
    let asked = read_request(&body)?;
    let token = &caller.token;
    let owner = (token.project.as_deref().unwrap_or_default(), token.user.as_str());
    let scheduler = &caller.api().scheduler;
    let Some(key) = request.headers().get(KEY) else {
        let answer = scheduler.select_destinations(caller.call(), asked, owner).await?;
        return Ok(json(StatusCode::OK, &answer));
    };
    let key = key.to_str().map_err(|_| {
        let given = String::from_utf8_lossy(key.as_bytes());
        Failure::bad_request(format!("{KEY} is {given:?}: expected characters of ASCII"))
    })?;
    match scheduler.select_destinations_once(caller.call(), asked, owner, key).await? {
        Answer::Now(answer) => Ok(json(StatusCode::OK, &answer)),
        Answer::Before(body) => Ok(HttpResponse::Ok()
            .insert_header((header::CONTENT_TYPE, media::JSON))
            .insert_header((REPLAYED, "true"))
            .body(body)),
    }
}

//! Errors of our own surface: problem details of RFC 9457.

use super::{Asked, Code, Failure, json, title};
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Serialize;
use utoipa::ToSchema;

/// An error of the `/v1` surface.
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// What kind of error it is: an address whose last part is the anchor in
    /// the table of errors.
    #[serde(rename = "type")]
    #[schema(format = "uri-reference", examples("/docs/errors#not-found"))]
    pub kind: String,
    /// The HTTP status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, with the field, its value and what was expected.
    pub detail: String,
    /// The request's id, under which the log and the journal know it.
    #[schema(examples("req-5f4c5a9e-5b3c-4c0e-8f3a-0f3d0f1f2a3b"))]
    pub request_id: String,
    /// What else programs may want to know: `errors` (field, value, expected)
    /// of a request that is not valid, `reasons` and `decision_id` where there
    /// is no valid host.
    #[serde(flatten)]
    pub members: serde_json::Map<String, serde_json::Value>,
}

pub(super) fn body(
    response: HttpResponseBuilder,
    failure: &Failure,
    asked: &Asked,
) -> HttpResponse {
    let status = failure.code.status();
    let problem = Problem {
        kind: format!("/docs/errors#{}", failure.code.anchor()),
        title: title(status).to_owned(),
        status: status.as_u16(),
        detail: detail(failure).to_owned(),
        request_id: asked.request_id.to_string(),
        members: failure
            .members
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    };
    json(response, "application/problem+json", &problem)
}

/// What is wrong, in words also where the surfaces of the peers say nothing.
fn detail(failure: &Failure) -> &str {
    match (failure.detail(), failure.code) {
        ("", Code::NotFound) => "There is nothing at this path: /docs lists those of /v1.",
        ("", Code::Unauthorized) => "The request has no token: expected one in X-Auth-Token.",
        ("", Code::Internal) => {
            "An internal fault; the log has the details under the request's id."
        }
        ("", code) => title(code.status()),
        (detail, _) => detail,
    }
}

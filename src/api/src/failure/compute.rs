//! Errors of the compute surface: Nova's form, one object under a key that
//! names the kind.

use super::{Failure, json, title};
use crate::media;
use actix_web::{HttpResponse, HttpResponseBuilder, http::StatusCode};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Fault<'a> {
    code: u16,
    message: &'a str,
}

pub(super) fn body(response: HttpResponseBuilder, failure: &Failure) -> HttpResponse {
    let status = failure.code.status();
    let message = if failure.detail.is_empty() { title(status) } else { failure.detail() };
    let fault = Fault { code: status.as_u16(), message };
    json(response, media::JSON, &BTreeMap::from([(name(status), fault)]))
}

fn name(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "badRequest",
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::NOT_FOUND => "itemNotFound",
        StatusCode::METHOD_NOT_ALLOWED => "badMethod",
        StatusCode::CONFLICT => "conflictingRequest",
        StatusCode::PAYLOAD_TOO_LARGE => "overLimit",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "badMediaType",
        StatusCode::NOT_IMPLEMENTED => "notImplemented",
        StatusCode::SERVICE_UNAVAILABLE => "serviceUnavailable",
        _ => "computeFault",
    }
}

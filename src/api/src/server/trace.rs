//! The span of a request: what the log says of it.

use actix_web::{
    Error, HttpMessage,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
};
use tracing::Span;
use tracing_actix_web::{RequestId, RootSpanBuilder};

use crate::gate::REQUEST_ID;

/// Opens a span with the request's id and, where the caller sent one, the
/// global id under which other services know what this is part of.
#[derive(Debug)]
pub struct RequestSpan;

impl RootSpanBuilder for RequestSpan {
    fn on_request_start(request: &ServiceRequest) -> Span {
        let span = tracing::info_span!(
            "request",
            request_id = tracing::field::Empty,
            global_request_id = tracing::field::Empty,
            method = %request.method(),
            path = request.path(),
            status = tracing::field::Empty,
        );
        if span.is_disabled() {
            return span;
        }
        if let Some(id) = request.extensions().get::<RequestId>() {
            span.record("request_id", format_args!("req-{id}").to_string());
        }
        if let Some(id) = global_id(request) {
            span.record("global_request_id", id);
        }
        span
    }

    fn on_request_end<B: MessageBody>(span: Span, outcome: &Result<ServiceResponse<B>, Error>) {
        let status = match outcome {
            Ok(response) => response.status(),
            Err(error) => error.as_response_error().status_code(),
        };
        span.record("status", status.as_u16());
        tracing::debug!(parent: &span, status = status.as_u16(), "answered");
    }
}

/// The id that the caller gave, if it has the form `req-<uuid>`.
fn global_id(request: &ServiceRequest) -> Option<&str> {
    let text = request.headers().get(REQUEST_ID)?.to_str().ok()?;
    let uuid = text.strip_prefix("req-").filter(|rest| rest.len() == 36)?;
    uuid::Uuid::try_parse(uuid).is_ok().then_some(text)
}

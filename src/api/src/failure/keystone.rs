//! What the peers answer who comes without a good token, where Keystone keeps
//! the door: the form of Keystone's middleware, whatever the caller accepts.

use super::{Failure, json, title};
use crate::media;
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Serialize;

#[derive(Serialize)]
struct Wrapped<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: u16,
    title: &'static str,
    message: &'a str,
}

pub(super) fn body(response: HttpResponseBuilder, failure: &Failure) -> HttpResponse {
    let status = failure.code.status();
    let error = Error { code: status.as_u16(), title: title(status), message: failure.detail() };
    json(response, media::JSON, &Wrapped { error })
}

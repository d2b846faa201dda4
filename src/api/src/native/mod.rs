//! Our own surface, `/v1`.
//!
//! Handlers take a [`Caller`] and, for a body, [`Json`]; they return
//! `Result<HttpResponse, Failure>`, and the gate renders a failure as problem
//! details. Routes are added in [`routes`] (paths relative to `/v1`), their
//! descriptions in [`openapi`] (paths in full).

mod caller;

pub use caller::{Caller, Json};

use actix_web::web::ServiceConfig;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi()]
struct Document;

/// The descriptions of the calls of this surface.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds the calls of this surface to a scope that is mounted at `/v1`.
pub fn routes(_config: &mut ServiceConfig) {}

//! The OpenAPI document and the pages that show it.

use crate::{failure::Problem, native, placement, probes};
use actix_web::{
    HttpResponse,
    http::header,
    web::{self, ServiceConfig},
};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, SecurityScheme},
};
use utoipa_swagger_ui::SwaggerUi;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "stowplan",
        description = "Compute placement: the Placement API, the scheduler's part of the compute \
                       API, and scheduling, batch and explanations of its own.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    paths(probes::healthz, probes::readyz),
    components(schemas(Problem)),
    tags((name = "probes", description = "Whether the process lives and can serve.")),
    modifiers(&Token),
)]
struct Document;

/// Adds the token that all but the public paths ask for.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let header = ApiKey::Header(ApiKeyValue::with_description(
            "X-Auth-Token",
            "With `auth_strategy = noauth2`: `user:project`.",
        ));
        components.add_security_scheme("token", SecurityScheme::ApiKey(header));
    }
}

/// The description of all surfaces, without a server.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    document.merge(placement::openapi());
    document.merge(native::openapi());
    document
}

pub(crate) fn routes(config: &mut ServiceConfig) {
    config
        .service(web::resource("/docs").to(async || {
            HttpResponse::PermanentRedirect().insert_header((header::LOCATION, "/docs/")).finish()
        }))
        .service(SwaggerUi::new("/docs/{_:.*}").url("/openapi.json", openapi()));
}

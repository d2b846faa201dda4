//! The OpenAPI document and the pages that show it.

use crate::{
    app::resource,
    compute,
    failure::{Code, Problem, title},
    media, metrics, native, placement, probes,
};
use actix_web::{
    HttpResponse,
    http::{Method, header},
    web::{self, Bytes, ServiceConfig},
};
use std::{fmt::Write as _, sync::LazyLock};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, SecurityScheme},
};
use utoipa_swagger_ui::{Config, SwaggerUi};

/// Where the document is served.
const DOCUMENT: &str = "/openapi.json";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "stowplan",
        description = "Compute placement: the Placement API, the scheduler's part of the compute \
                       API, and scheduling, batch and explanations of its own.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    paths(probes::healthz, probes::readyz, metrics::metrics),
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
            "A token of Keystone; with `auth_strategy = noauth2`: `user:project`.",
        ));
        components.add_security_scheme("token", SecurityScheme::ApiKey(header));
    }
}

/// The description of all surfaces, without a server.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    document.merge(placement::openapi());
    document.merge(compute::openapi());
    document.merge(native::openapi());
    document
}

/// The document as it is sent, written once for all workers.
static WRITTEN: LazyLock<Bytes> =
    LazyLock::new(|| openapi().to_json().map_or_else(|_| Bytes::new(), Bytes::from));

pub(crate) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource(DOCUMENT, [(Method::GET, web::to(document))]))
        .service(resource("/docs", [(Method::GET, web::to(redirect))]))
        // Before the pages that show the document, which take all paths below.
        .service(resource("/docs/errors", [(Method::GET, web::to(errors))]))
        .service(SwaggerUi::new("/docs/{_:.*}").config(Config::from(DOCUMENT)));
}

async fn document() -> HttpResponse {
    HttpResponse::Ok().content_type(media::JSON).body(WRITTEN.clone())
}

async fn redirect() -> HttpResponse {
    HttpResponse::PermanentRedirect().insert_header((header::LOCATION, "/docs/")).finish()
}

/// The table of error codes as a page; a problem's type points into it.
static ERRORS: LazyLock<Bytes> = LazyLock::new(|| {
    let mut rows = String::new();
    for code in Code::ALL {
        let (anchor, status) = (code.anchor(), code.status());
        let _ = writeln!(
            rows,
            "<tr id=\"{anchor}\"><td>{} {}</td><td>{anchor}</td><td>{}</td><td>{}</td></tr>",
            status.as_u16(),
            title(status),
            code.placement(),
            code.about(),
        );
    }
    Bytes::from(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <title>Errors of stowplan</title>\n<style>body {{ font-family: sans-serif }} \
         td, th {{ padding: 0.3em 1em; text-align: left }} :target {{ background: #ffc }}</style>\
         </head>\n<body>\n<h1>Errors</h1>\n<table>\n<tr><th>status</th>\
         <th>problem</th><th>code of the Placement API</th><th>meaning</th></tr>\n\
         {rows}</table>\n</body>\n</html>\n"
    ))
});

async fn errors() -> HttpResponse {
    HttpResponse::Ok().content_type("text/html; charset=utf-8").body(ERRORS.clone())
}

//! The gate that every request passes: its id, who asks, in which version; and
//! on the way back errors in the form of the surface, and the headers.
//!
//! Checks before the route are the peer's, in its order: token, version,
//! content type and length.

use crate::{
    auth::Token,
    compute::version::Microversion,
    cors,
    door::Door,
    failure::{self, Asked, Code, Failure},
    media,
    server::BAD_LENGTH,
    state::Shared,
    surface::Surface,
    version::{Spoken, Version},
};
use actix_web::{
    Error, HttpMessage, HttpRequest, HttpResponse, ResponseError,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        ConnectionType, Method, StatusCode,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    web::Data,
};
use futures_util::FutureExt;
use percent_encoding::percent_decode_str;
use std::{fmt, panic::AssertUnwindSafe, sync::Arc, time::Instant};
use stowplan_config::Settings;
use stowplan_scheduler::fields::cut;
use tracing_actix_web::RequestId;

/// The header that bears a request's id.
pub const REQUEST_ID: &str = "x-openstack-request-id";

/// What the gate found out about a request; handlers read it.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// Who asks; nobody on the public surface and at the root.
    pub token: Option<Token>,
    /// The microversion of the Placement surface.
    pub version: Version,
    /// The microversion of the compute surface.
    pub microversion: Microversion,
    /// The request's id.
    pub request_id: Arc<str>,
    /// Whether the path begins with the prefix of its surface, `[api]
    /// placement_prefix` or `compute_prefix`.
    pub prefixed: bool,
}

/// What the gate has let pass of a request, with what the surfaces share.
///
/// # Errors
/// 401 for a request that the gate has not seen.
pub fn admitted(request: &HttpRequest) -> Result<(Admitted, Data<Shared>), Failure> {
    let admitted = request.extensions().get::<Admitted>().cloned();
    let both = admitted.zip(request.app_data::<Data<Shared>>().cloned());
    both.ok_or_else(|| Failure::new(Code::Unauthorized, ""))
}

/// Passes a request on if it may enter, finishes its answer, and counts it.
pub async fn gate<B: MessageBody + 'static>(
    shared: Data<Shared>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let began = Instant::now();
    let settings = shared.api.settings.load_full();
    let asked = asked(&request, &settings);
    let (surface, method) = (asked.surface, asked.method.clone());
    let answered = pass(asked, &shared.door, settings, request, next).await;
    let status = match &answered {
        Ok(response) => response.status(),
        Err(error) => error.as_response_error().status_code(),
    };
    shared.requests.count(surface, &method, status, began.elapsed());
    answered
}

async fn pass<B: MessageBody + 'static>(
    mut asked: Asked,
    door: &Door,
    settings: Arc<Settings>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    if cors::is_on(&settings.cors) {
        asked.origin = request.headers().get(header::ORIGIN).cloned();
        if request.method() == Method::OPTIONS {
            let mut response = HttpResponse::Ok().finish();
            cors::allow(&settings.cors, request.headers(), response.headers_mut());
            asked.origin = None;
            finish(response.headers_mut(), &asked, None, &settings);
            return Ok(request.into_response(response).map_into_right_body());
        }
    }
    match admit(door, &request, &mut asked).await {
        Ok(admitted) => request.extensions_mut().insert(admitted),
        Err(failure) => {
            let mut response = failure::render(&failure, &asked);
            challenge(&mut response, door);
            finish(response.headers_mut(), &asked, Some(&failure), &settings);
            if request.headers().contains_key(BAD_LENGTH) {
                response.head_mut().set_connection_type(ConnectionType::Close);
            }
            return Ok(request.into_response(response).map_into_right_body());
        }
    };
    match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(Ok(response)) => Ok(leave(response, &asked, &settings)),
        Ok(Err(error)) => Err(error),
        Err(_) => {
            tracing::error!(request_id = %asked.request_id, "a handler broke off");
            Err(Broken(asked, settings).into())
        }
    }
}

/// Where there is a token to be had, for who came without.
fn challenge(response: &mut HttpResponse, door: &Door) {
    let challenge = door.challenge().filter(|_| response.status() == StatusCode::UNAUTHORIZED);
    if let Some(Ok(value)) = challenge.map(HeaderValue::from_str) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
}

fn asked(request: &ServiceRequest, settings: &Settings) -> Asked {
    let id = request.extensions().get::<RequestId>().map(|id| format!("req-{id}"));
    let headers = request.headers();
    Asked {
        surface: Surface::of(request.path(), &settings.api),
        method: request.method().clone(),
        accept: headers.get(header::ACCEPT).cloned(),
        content_type: headers.get(header::CONTENT_TYPE).cloned(),
        version: None,
        origin: None,
        request_id: id.unwrap_or_else(|| format!("req-{}", uuid::Uuid::new_v4())).into(),
    }
}

async fn admit(
    door: &Door,
    request: &ServiceRequest,
    asked: &mut Asked,
) -> Result<Admitted, Failure> {
    let headers = request.headers();
    let token = if asked.surface.is_open() { None } else { Some(door.admit(headers).await?) };
    let (mut version, mut microversion) = (Version::MIN, Microversion::MIN);
    match asked.surface {
        Surface::Placement { .. } => {
            version = Version::negotiate(headers).map_err(unversioned)?;
            asked.version = Some(Spoken::Placement(version));
        }
        // The documents of versions are the same in all of them.
        Surface::Compute { root: false, .. } => {
            microversion = Microversion::negotiate(headers).map_err(unversioned)?;
            asked.version = Some(Spoken::Compute(microversion));
        }
        Surface::Compute { .. } | Surface::Native | Surface::Public => {}
    }
    check_content(headers)?;
    check_path(request.uri().path())?;
    if asked.surface == Surface::Native {
        check_native(request)?;
    }
    Ok(Admitted {
        token,
        version,
        microversion,
        request_id: asked.request_id.clone(),
        prefixed: asked.surface.is_prefixed(),
    })
}

fn unversioned(fault: impl Into<Failure>) -> Failure {
    fault.into().without_version()
}

fn check_content(headers: &HeaderMap) -> Result<(), Failure> {
    if headers.contains_key(BAD_LENGTH) {
        return Err(Failure::bad_request("content-length header must be an integer"));
    }
    let typed = headers.get(header::CONTENT_TYPE).is_some_and(|value| !value.is_empty());
    if announces_body(headers) && !typed {
        return Err(Failure::bad_request("content-type header required when content-length > 0"));
    }
    Ok(())
}

fn announces_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).map(HeaderValue::as_bytes);
    length.is_some_and(|digits| digits.iter().any(|digit| *digit != b'0'))
}

/// What our own surface asks besides: a body is JSON, as it stands, and each
/// percent sign of the path leads two hexadecimal digits. (The peers pass over
/// such signs, and over the coding of a body.)
fn check_native(request: &ServiceRequest) -> Result<(), Failure> {
    let (headers, path) = (request.headers(), request.uri().path());
    let is_escape = |rest: &str| {
        rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    if !path.split('%').skip(1).all(is_escape) {
        return Err(Failure::bad_request(format!(
            "The path is {}: expected two hexadecimal digits behind each percent sign",
            cut(path)
        )));
    }
    // Of a body in chunks nobody knows yet whether it is empty.
    let chunked = headers.contains_key(header::TRANSFER_ENCODING);
    let typed = headers.contains_key(header::CONTENT_TYPE);
    if !(announces_body(headers) || (chunked && typed)) {
        return Ok(());
    }
    let kind = media::content_type(headers.get(header::CONTENT_TYPE));
    if !kind.eq_ignore_ascii_case(media::JSON) {
        let (kind, json) = (cut(kind), media::JSON);
        let detail = format!("The media type '{kind}' is not read here; use {json}");
        return Err(Failure::new(Code::UnsupportedMedia, detail));
    }
    let coding = headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
    if coding.is_some_and(|coding| !coding.eq_ignore_ascii_case(b"identity")) {
        let coding = cut(&String::from_utf8_lossy(coding.unwrap_or_default())).into_owned();
        let detail = format!("The content coding '{coding}' is not read here; use identity");
        return Err(Failure::new(Code::UnsupportedMedia, detail));
    }
    Ok(())
}

/// The router would put a stand-in for what is no UTF-8, and take two names for
/// one.
fn check_path(path: &str) -> Result<(), Failure> {
    if path.contains('%') && percent_decode_str(path).decode_utf8().is_err() {
        return Err(Failure::bad_request(format!(
            "The path is {}: expected UTF-8 behind its percent signs",
            cut(path)
        )));
    }
    Ok(())
}

/// Finishes an answer: a failure is rendered, headers are added.
fn leave<B>(
    response: ServiceResponse<B>,
    asked: &Asked,
    settings: &Settings,
) -> ServiceResponse<EitherBody<B>> {
    let failure = response.response().error().map(|error| match error.as_error::<Failure>() {
        Some(failure) => failure.clone(),
        None => foreign(error),
    });
    if let Some(failure) = failure {
        let mut rendered = failure::render(&failure, asked);
        finish(rendered.headers_mut(), asked, Some(&failure), settings);
        let (request, _) = response.into_parts();
        return ServiceResponse::new(request, rendered).map_into_right_body();
    }
    let mut response = response.map_into_left_body();
    finish(response.headers_mut(), asked, None, settings);
    response
}

/// An error of the framework, such as a body that breaks off.
fn foreign(error: &Error) -> Failure {
    match error.as_response_error().status_code() {
        StatusCode::PAYLOAD_TOO_LARGE => Failure::new(Code::TooLarge, error.to_string()),
        StatusCode::NOT_FOUND => Failure::no_route(),
        status if status.is_client_error() => Failure::bad_request(error.to_string()),
        _ => {
            tracing::error!(%error, "a handler failed");
            Failure::new(Code::Internal, "")
        }
    }
}

fn finish(headers: &mut HeaderMap, asked: &Asked, failure: Option<&Failure>, settings: &Settings) {
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.append(HeaderName::from_static(name), value);
        }
    };
    put(REQUEST_ID, &asked.request_id);
    if let Some(spoken) = asked.version {
        for (name, value) in spoken.headers() {
            put(name, &value);
            if failure.is_none_or(|failure| failure.varies(spoken)) {
                put("vary", name);
            }
        }
    }
    cors::expose(&settings.cors, asked.origin.as_ref(), headers);
}

/// What stands in for the answer of a handler that broke off.
#[derive(Debug)]
struct Broken(Asked, Arc<Settings>);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the handler of {} broke off", self.0.request_id)
    }
}

impl ResponseError for Broken {
    fn status_code(&self) -> StatusCode {
        StatusCode::INTERNAL_SERVER_ERROR
    }

    fn error_response(&self) -> HttpResponse {
        let failure = Failure::new(
            Code::Internal,
            format!("An internal fault; the log has the details under {}.", self.0.request_id),
        );
        let mut response = failure::render(&failure, &self.0);
        finish(response.headers_mut(), &self.0, Some(&failure), &self.1);
        response
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::state::ApiState;
    use actix_web::{App, middleware::from_fn, rt::System, test, web};
    use arc_swap::ArcSwap;
    use serde_json::Value;
    use stowplan_db::{Backend, ConnectSpec};
    use stowplan_ledger::{Ledger, Limits, OpenOptions, Quiet};
    use stowplan_model::Micros;
    use stowplan_scheduler::Scheduler;

    async fn shared(folder: &std::path::Path) -> Data<Shared> {
        let url = format!("sqlite://{}/test.db?mode=rwc", folder.display());
        let database = ConnectSpec::new(Backend::Sqlite, url);
        let options = OpenOptions { database, lock_file: None, limits: Limits::default() };
        let ledger = Ledger::open(options, &mut Quiet).await.unwrap();
        let settings = Arc::new(ArcSwap::from_pointee(Settings::default()));
        let scheduler = Scheduler::new(ledger.clone(), settings.clone()).unwrap();
        let api = ApiState {
            ledger,
            scheduler,
            settings,
            clock: Arc::new(|| Micros(0)),
            bus: None,
            shadow: None,
            batch: Arc::default(),
            nova: None,
        };
        Data::new(Shared::new(api).unwrap())
    }

    async fn breaks() -> HttpResponse {
        panic!("a handler that breaks")
    }

    #[core::prelude::v1::test]
    fn a_handler_that_breaks_is_answered_with_the_id_of_the_request() {
        let folder = tempfile::tempdir().unwrap();
        System::new().block_on(async {
            let app = App::new()
                .app_data(shared(folder.path()).await)
                .wrap(from_fn(gate))
                .route("/v1/breaks", web::get().to(breaks));
            let service = test::init_service(app).await;
            let request =
                test::TestRequest::get().uri("/v1/breaks").insert_header(("x-auth-token", "admin"));
            let error = test::try_call_service(&service, request.to_request()).await.unwrap_err();
            let response = error.error_response();
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
            let id = response.headers().get(REQUEST_ID).unwrap().to_str().unwrap().to_owned();
            let body = actix_web::body::to_bytes(response.into_body()).await.unwrap();
            let problem: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((&problem["status"], &problem["request_id"]), (&500.into(), &id.into()));
        });
    }
}

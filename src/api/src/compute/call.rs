//! A call of the compute API that may go ahead, and its answers.

use super::{
    operations::{About, Operation, Row},
    version::Microversion,
};
use crate::{
    auth::Token,
    failure::{Code, Failure},
    gate::{Admitted, admitted},
    media,
    policy::Target,
    query::Query,
    reached::Reached,
    schema::Schema,
    state::{ApiState, Shared},
    surface,
};
use actix_web::{
    FromRequest, HttpRequest, HttpResponse,
    dev::Payload,
    http::{StatusCode, header},
    web::Data,
};
use serde::Serialize;
use serde_json::Value;
use std::{
    future::{Ready, ready},
    marker::PhantomData,
    sync::Arc,
};
use stowplan_config::Settings;
use stowplan_ledger::Image;
use stowplan_model::Micros;

/// What a handler gives.
pub type Answer = Result<HttpResponse, Failure>;

/// Media types of bodies that are read.
const READ: [&str; 2] = [media::JSON, "application/vnd.openstack.compute+json"];

/// A call of an operation: the version has it, its query and media type are
/// right, the policy allows it.
pub struct Call<O> {
    /// The microversion.
    pub version: Microversion,
    /// Who calls.
    pub token: Token,
    /// The query.
    pub query: Query,
    request_id: Arc<str>,
    /// What stands before the paths of calls, such as `/compute/v2.1`.
    base: String,
    reached: Reached,
    shared: Data<Shared>,
    operation: PhantomData<O>,
}

impl<O: Operation> FromRequest for Call<O> {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let open = |(admitted, shared)| Self::open(request, admitted, shared);
        ready(admitted(request).and_then(open))
    }
}

impl<O: Operation> Call<O> {
    fn open(
        request: &HttpRequest,
        admitted: Admitted,
        shared: Data<Shared>,
    ) -> Result<Self, Failure> {
        let row = O::ROW;
        let version = admitted.microversion;
        check_version(&row, version)?;
        let token = admitted.token.ok_or_else(|| Failure::new(Code::Unauthorized, ""))?;
        let project = request.match_info().get(PROJECT);
        check_project(project, &token)?;
        if row.reads {
            check_media(request)?;
        }
        let query = row.query.read(request.query_string(), version)?;
        let settings = shared.api.settings.load();
        let proxied = settings.oslo_middleware.enable_proxy_headers_parsing;
        let reached = Reached::of(request.headers(), proxied);
        let base = base(&reached, admitted.prefixed, project, &settings);
        drop(settings);
        let (request_id, operation) = (admitted.request_id, PhantomData);
        let call = Self { version, token, query, request_id, base, reached, shared, operation };
        match row.about {
            About::Cloud => call.may(row.rule, Target(&[]))?,
            About::Own => call.may(row.rule, Target(&call.token.own()))?,
            About::Found => {}
        }
        Ok(call)
    }

    /// Checks that the caller may do this to what belongs to a project.
    ///
    /// # Errors
    /// 403 when not.
    pub fn may_of(&self, project: &str) -> Result<(), Failure> {
        self.may(O::ROW.rule, Target(&[("project_id", Some(project))]))
    }
}

/// The part of a path that names the caller's project, where it does.
pub const PROJECT: &str = "project_id";

fn check_version(row: &Row, version: Microversion) -> Result<(), Failure> {
    if version.has(row.since) && !row.until.is_some_and(|until| version.has(until)) {
        return Ok(());
    }
    Err(Failure::not_found(format!("Version {version} of the compute API has no such call.")))
}

fn check_project(project: Option<&str>, token: &Token) -> Result<(), Failure> {
    match project {
        Some(project) if token.project.as_deref() != Some(project) => {
            Err(Failure::bad_request(format!(
                "The project in the path is {project}: expected that of the token, {}",
                token.project.as_deref().unwrap_or("which has none")
            )))
        }
        _ => Ok(()),
    }
}

fn check_media(request: &HttpRequest) -> Result<(), Failure> {
    let kind = media::content_type(request.headers().get(header::CONTENT_TYPE));
    if kind.is_empty() || READ.contains(&kind) {
        return Ok(());
    }
    let detail = format!("The media type {kind} is not supported, use {}", media::JSON);
    Err(Failure::new(Code::UnsupportedMedia, detail))
}

/// What stands before the paths of calls for this caller: what proxies take
/// off, the prefix, the version, and the project where the caller names it.
pub fn base(
    reached: &Reached,
    prefixed: bool,
    project: Option<&str>,
    settings: &Settings,
) -> String {
    let mut base = reached.prefix().to_owned();
    if prefixed {
        base += &surface::mount(&settings.api.compute_prefix);
    }
    base += surface::COMPUTE;
    if let Some(project) = project {
        base.push('/');
        base += project;
    }
    base
}

impl<O> Call<O> {
    /// Checks that the caller may do what a rule of the policy guards.
    ///
    /// # Errors
    /// 403 when not.
    pub fn may(&self, rule: &str, target: Target<'_>) -> Result<(), Failure> {
        self.shared.policy().enforce(rule, &self.token, target).map_err(|_| {
            Failure::new(Code::Forbidden, format!("Policy doesn't allow {rule} to be performed."))
        })
    }

    /// What the surfaces stand on.
    pub fn api(&self) -> &ApiState {
        &self.shared.api
    }

    /// The newest image. Taken once per answer.
    pub fn image(&self) -> Arc<Image> {
        self.shared.api.ledger.image()
    }

    /// Now.
    pub fn now(&self) -> Micros {
        self.shared.now()
    }

    /// The call as the scheduler knows it.
    pub fn call(&self) -> stowplan_scheduler::Call<'_> {
        stowplan_scheduler::Call { request_id: &self.request_id, now: self.now() }
    }

    /// The address of a path of this surface.
    pub fn address(&self, path: &str) -> String {
        self.reached.address(&format!("{}{path}", self.base))
    }
}

/// 200 with a body.
pub fn json(body: &impl Serialize) -> Answer {
    Ok(HttpResponse::Ok().json(body))
}

/// An answer without a body.
pub fn bare(status: StatusCode) -> Answer {
    Ok(HttpResponse::new(status))
}

/// Reads a body as JSON and checks it.
///
/// # Errors
/// 400 with the field, its value and what was expected.
pub fn parse(body: &[u8], schema: &Schema) -> Result<Value, Failure> {
    let value = read(body)?;
    check(&value, schema)?;
    Ok(value)
}

/// Reads a body as JSON.
///
/// # Errors
/// 400 when it is none.
pub fn read(body: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(body).map_err(|error| {
        Failure::bad_request(format!("Malformed request body: expected a JSON object ({error})"))
    })
}

/// Checks a body.
///
/// # Errors
/// 400 with the field, its value and what was expected.
pub fn check(value: &Value, schema: &Schema) -> Result<(), Failure> {
    schema.check(value).map_err(|fault| {
        let place = fault.place();
        let field = if place.is_empty() { "body" } else { &place };
        Failure::bad_request(format!(
            "Invalid input for field/attribute {field}. Value: {}. {}",
            fault.value(),
            fault.message()
        ))
    })
}

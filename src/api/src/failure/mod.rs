//! Errors as handlers give them, and the one place where they become answers.

mod codes;
mod compute;
mod keystone;
mod native;
mod placement;

pub use codes::{Code, title};
pub use native::Problem;

use crate::{
    compute::version::{Microversion, MicroversionFault},
    surface::Surface,
    version::{Spoken, Version, VersionFault},
};
use actix_web::{
    HttpResponse, HttpResponseBuilder, ResponseError,
    http::{
        StatusCode,
        header::{self, HeaderValue},
    },
};
use std::{borrow::Cow, fmt, sync::Arc};
use stowplan_ledger::{Unavailable, WriteError};
use stowplan_placement::PlacementError;

/// Why a request is not answered as it wished.
///
/// Handlers return it as their error; the gate renders it in the form of the
/// surface, with the request's id.
#[derive(Clone, Debug)]
pub struct Failure {
    code: Code,
    detail: Cow<'static, str>,
    allow: Option<String>,
    without_version: bool,
    below_version: bool,
    members: Vec<(&'static str, serde_json::Value)>,
}

impl Failure {
    /// A failure of a kind, with what exactly is wrong and what was expected.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            allow: None,
            without_version: false,
            below_version: false,
            members: Vec::new(),
        }
    }

    /// The same with a further member, for programs that read problem details;
    /// other surfaces do not show it.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl serde::Serialize) -> Self {
        self.members.extend(serde_json::to_value(value).ok().map(|value| (name, value)));
        self
    }

    /// 400: the request is not valid.
    #[must_use]
    pub fn bad_request(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::BadRequest, detail)
    }

    /// 404: there is nothing of that name.
    #[must_use]
    pub fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::NotFound, detail)
    }

    /// 404: there is no such path.
    #[must_use]
    pub fn no_route() -> Self {
        Self::not_found("")
    }

    /// 404 or 405 for what a later microversion has.
    #[must_use]
    pub fn before_its_time(code: Code) -> Self {
        Self { below_version: true, ..Self::new(code, "") }
    }

    /// 405, with the methods that the path has.
    #[must_use]
    pub fn method_not_allowed(allow: String) -> Self {
        Self {
            allow: Some(allow),
            ..Self::new(
                Code::MethodNotAllowed,
                "The method specified is not allowed for this resource.",
            )
        }
    }

    /// The version header could not be honoured: the answer names none.
    #[must_use]
    pub(crate) fn without_version(self) -> Self {
        Self { without_version: true, ..self }
    }

    /// The kind.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// What exactly is wrong.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Whether the answer to this failure names the version header in `Vary`:
    /// Placement does not with 403 and with what was not found.
    pub(crate) fn varies(&self, spoken: Spoken) -> bool {
        let is_told = !matches!(self.code, Code::Forbidden | Code::NotFound);
        is_told || self.below_version || matches!(spoken, Spoken::Compute(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.code.status();
        if self.detail.is_empty() {
            f.write_str(title(status))
        } else {
            write!(f, "{}: {}", title(status), self.detail)
        }
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    /// A bare answer, which the gate replaces: only there is it known what
    /// the caller accepts and which surface it asked.
    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}

impl From<Unavailable> for Failure {
    fn from(trouble: Unavailable) -> Self {
        match trouble {
            Unavailable::Fault { .. } => Self::new(Code::Internal, trouble.to_string()),
            Unavailable::TooLarge { .. } => Self::new(Code::TooLarge, trouble.to_string()),
            Unavailable::Database { .. }
            | Unavailable::Contended
            | Unavailable::Closing
            | Unavailable::Overloaded { .. } => Self::new(Code::Unavailable, trouble.to_string()),
        }
    }
}

impl From<PlacementError> for Failure {
    fn from(refusal: PlacementError) -> Self {
        let code = Code::of_placement(refusal.status(), refusal.code());
        Self::new(code, refusal.to_string())
    }
}

impl From<VersionFault> for Failure {
    fn from(fault: VersionFault) -> Self {
        match fault {
            VersionFault::Malformed(text) => Self::bad_request(format!(
                "Invalid microversion: invalid version string: {text}; expected two numbers, such \
                 as 1.{}, or latest",
                Version::MAX.minor(),
            )),
            VersionFault::Unacceptable(text) => Self::new(
                Code::NotAcceptable,
                format!("Invalid microversion: Unacceptable version header: {text}"),
            ),
        }
    }
}

impl From<MicroversionFault> for Failure {
    fn from(fault: MicroversionFault) -> Self {
        let (min, max) = (Microversion::MIN, Microversion::MAX);
        match fault {
            MicroversionFault::Malformed(text) => Self::bad_request(format!(
                "The API version is {text}: expected two numbers with a point between them, such \
                 as {max}, or latest"
            )),
            MicroversionFault::Unacceptable(text) => Self::new(
                Code::NotAcceptable,
                format!(
                    "Version {text} is not supported by the API. Minimum is {min} and maximum is \
                     {max}."
                ),
            ),
        }
    }
}

impl<E: Into<Failure>> From<WriteError<E>> for Failure {
    fn from(error: WriteError<E>) -> Self {
        match error {
            WriteError::Refused(refusal) => refusal.into(),
            WriteError::Unavailable(trouble) => trouble.into(),
        }
    }
}

/// What of a request its answer depends on, kept aside before the handler
/// takes the request away.
#[derive(Clone, Debug)]
pub struct Asked {
    pub(crate) surface: Surface,
    pub(crate) method: actix_web::http::Method,
    pub(crate) accept: Option<HeaderValue>,
    pub(crate) content_type: Option<HeaderValue>,
    pub(crate) version: Option<Spoken>,
    pub(crate) origin: Option<HeaderValue>,
    pub(crate) request_id: Arc<str>,
}

/// Renders a failure in the form of the surface that was asked.
#[must_use]
pub fn render(failure: &Failure, asked: &Asked) -> HttpResponse {
    let mut response = HttpResponse::build(failure.code.status());
    if let Some(allow) = &failure.allow {
        response.insert_header((header::ALLOW, allow.as_str()));
    }
    if failure.code == Code::Unavailable {
        response.insert_header((header::RETRY_AFTER, "1"));
    }
    match asked.surface {
        Surface::Native => native::body(response, failure, asked),
        _ if failure.code == Code::TokenRefused => keystone::body(response, failure),
        Surface::Placement { .. } | Surface::Public => placement::body(response, failure, asked),
        Surface::Compute { .. } => compute::body(response, failure),
    }
}

/// Ends an answer with a typed body.
fn json(
    mut response: HttpResponseBuilder,
    kind: &'static str,
    body: &impl serde::Serialize,
) -> HttpResponse {
    response.insert_header((header::CONTENT_TYPE, kind));
    match serde_json::to_vec(body) {
        Ok(bytes) => response.body(bytes),
        Err(_) => response.finish(),
    }
}

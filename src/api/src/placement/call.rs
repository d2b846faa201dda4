//! A call of the Placement API that may go ahead, and its answers.

use super::operations::{About, Media, Operation, Row};
use crate::{
    auth::Token,
    failure::{Code, Failure},
    gate::{Admitted, admitted},
    media::{self, Accept},
    policy::{Denied, Target},
    query::Query,
    reached::Reached,
    schema::{Schema, lenient_uuid},
    state::Shared,
    surface,
    version::{Feature, Version},
};
use actix_web::{
    FromRequest, HttpRequest, HttpResponse, HttpResponseBuilder,
    dev::Payload,
    http::{
        StatusCode,
        header::{self, HttpDate},
    },
    web::Data,
};
use serde::Serialize;
use serde_json::Value;
use std::{
    future::{Ready, ready},
    marker::PhantomData,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use stowplan_config::Settings;
use stowplan_ledger::{Change, Image};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::PlacementError;

/// What a handler gives.
pub type Answer = Result<HttpResponse, Failure>;

/// A call of an operation: the version fits, the media types are right, the
/// policy allows it.
pub struct Call<O> {
    /// The microversion.
    pub version: Version,
    request_id: Arc<str>,
    prefixed: bool,
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
        if !admitted.version.has(row.since) {
            return Err(Failure::before_its_time(row.before));
        }
        check_media(request, row.media, admitted.version)?;
        let token = admitted.token.ok_or_else(|| Failure::new(Code::Unauthorized, ""))?;
        check_policy(request, &row, &token, &shared)?;
        let proxied = shared.api.settings.load().oslo_middleware.enable_proxy_headers_parsing;
        Ok(Self {
            version: admitted.version,
            request_id: admitted.request_id,
            prefixed: admitted.prefixed,
            reached: Reached::of(request.headers(), proxied),
            shared,
            operation: PhantomData,
        })
    }
}

fn check_media(request: &HttpRequest, media: Media, version: Version) -> Result<(), Failure> {
    let headers = request.headers();
    let reads = match media {
        Media::Neither => return Ok(()),
        Media::Gives => {
            return if Accept::of(headers.get(header::ACCEPT)).takes(media::JSON) {
                Ok(())
            } else {
                let detail = format!("Only {} is provided", media::JSON);
                Err(Failure::new(Code::NotAcceptable, detail))
            };
        }
        Media::Reads => true,
        Media::ReadsBefore(feature) => !version.has(feature),
    };
    let kind = media::content_type(headers.get(header::CONTENT_TYPE));
    if !reads || kind == media::JSON {
        return Ok(());
    }
    let kind = if kind.is_empty() { "None" } else { kind };
    let detail = format!("The media type {kind} is not supported, use {}", media::JSON);
    Err(Failure::new(Code::UnsupportedMedia, detail))
}

fn check_policy(
    request: &HttpRequest,
    row: &Row,
    token: &Token,
    shared: &Shared,
) -> Result<(), Failure> {
    let (own, query, named);
    let target = match row.about {
        About::Own => {
            own = token.own();
            Target(&own)
        }
        About::QueryProject => {
            query = Query::parse(request.query_string()).ok();
            named = [("project_id", query.as_ref().and_then(|query| query.last("project_id")))];
            Target(&named)
        }
    };
    shared.policy().enforce(row.rule, token, target).map_err(|denied| {
        let detail = match denied {
            Denied::Scope => row.rule.to_owned(),
            Denied::Rule => format!("Policy does not allow {} to be performed.", row.rule),
        };
        Failure::new(Code::Forbidden, detail)
    })
}

impl<O> Call<O> {
    /// The newest image. Taken once per answer.
    pub fn image(&self) -> Arc<Image> {
        self.shared.api.ledger.image()
    }

    /// The options in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.shared.api.settings.load_full()
    }

    /// Now.
    pub fn now(&self) -> Micros {
        self.shared.now()
    }

    /// Runs a longer computation beside the workers.
    pub async fn beside<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Ok(self.shared.api.scheduler.beside(work).await?)
    }

    /// Proposes a mutation to the ledger.
    pub async fn write<T, F>(&self, mut check: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnMut(&Image, Micros) -> Result<(Change, T), PlacementError> + Send + 'static,
    {
        let now = self.now();
        let written =
            self.shared.api.ledger.write(&self.request_id, move |image| check(image, now));
        Ok(written.await?)
    }

    /// Where the Placement API is mounted for this caller: behind what proxies
    /// take off, nothing or the prefix.
    pub fn base(&self) -> String {
        let mut base = self.reached.prefix().to_owned();
        if self.prefixed {
            base += &surface::mount(&self.shared.api.settings.load().api.placement_prefix);
        }
        base
    }

    /// An answer with a body; from 1.15 on it says when that last changed.
    pub fn json(&self, body: &impl Serialize, modified: impl Into<Option<Micros>>) -> Answer {
        self.json_with(StatusCode::OK, body, modified.into(), None)
    }

    /// An answer with a status, a body and where that can be found.
    pub fn json_with(
        &self,
        status: StatusCode,
        body: &impl Serialize,
        modified: impl Into<Option<Micros>>,
        location: Option<String>,
    ) -> Answer {
        let bytes = self.intact(serde_json::to_vec(body))?;
        self.written_with(status, bytes, modified, location)
    }

    /// An answer with a body that is written already.
    pub fn written(&self, bytes: Vec<u8>, modified: impl Into<Option<Micros>>) -> Answer {
        self.written_with(StatusCode::OK, bytes, modified, None)
    }

    /// The same with a status and where the thing can be found.
    pub fn written_with(
        &self,
        status: StatusCode,
        bytes: Vec<u8>,
        modified: impl Into<Option<Micros>>,
        location: Option<String>,
    ) -> Answer {
        let mut response = HttpResponse::build(status);
        response.insert_header((header::CONTENT_TYPE, media::JSON));
        self.cache_headers(&mut response, modified.into());
        if let Some(location) = location {
            response.insert_header((header::LOCATION, self.reached.address(&location)));
        }
        Ok(response.body(bytes))
    }

    fn intact(&self, bytes: serde_json::Result<Vec<u8>>) -> Result<Vec<u8>, Failure> {
        bytes.map_err(|error| {
            tracing::error!(request_id = %self.request_id, %error, "an answer was not written");
            Failure::new(Code::Internal, "")
        })
    }

    /// An answer without a body, with where the thing can be found and, from
    /// 1.15 on, when it last changed.
    pub fn bare(
        &self,
        status: StatusCode,
        location: Option<String>,
        modified: Option<Micros>,
    ) -> Answer {
        let mut response = HttpResponse::build(status);
        if let Some(location) = location {
            response.insert_header((header::LOCATION, self.reached.address(&location)));
        }
        if let Some(modified) = modified {
            self.cache_headers(&mut response, Some(modified));
        }
        Ok(response.finish())
    }

    /// 204.
    pub fn done(&self) -> Answer {
        self.bare(StatusCode::NO_CONTENT, None, None)
    }

    fn cache_headers(&self, response: &mut HttpResponseBuilder, modified: Option<Micros>) {
        if !self.version.has(Feature::CacheHeaders) {
            return;
        }
        response.insert_header((header::CACHE_CONTROL, "no-cache"));
        if let Some(modified) = modified {
            let seconds = u64::try_from(modified.seconds()).unwrap_or(0);
            let date = HttpDate::from(UNIX_EPOCH + Duration::from_secs(seconds));
            response.insert_header((header::LAST_MODIFIED, header::LastModified(date)));
        }
    }
}

/// Reads a body as JSON and checks it.
///
/// # Errors
/// 400 with what is wrong, where, and what was expected.
pub fn parse(body: &[u8], schema: &Schema) -> Result<Value, Failure> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Failure::bad_request(format!("Malformed JSON: {error}")))?;
    schema
        .check(&value)
        .map_err(|fault| Failure::bad_request(format!("JSON does not validate: {fault}")))?;
    Ok(value)
}

/// The uuid of a provider in a path.
///
/// # Errors
/// 404: no provider has such a uuid.
pub fn provider_uuid(text: &str) -> Result<Uuid, Failure> {
    lenient_uuid(text)
        .ok_or_else(|| Failure::not_found(format!("No resource provider with uuid {text} found")))
}

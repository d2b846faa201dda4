//! Documents of versions, by which clients find out what is spoken here.

use super::{call::base, version::Microversion};
use crate::{gate::Admitted, reached::Reached, state::Shared};
use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, ReqData},
};
use serde::Serialize;
use utoipa::ToSchema;

/// When the peer last changed version 2.1 without a microversion.
const UPDATED: &str = "2013-07-23T11:33:21Z";

/// The version of the compute API.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeVersionAnswer {
    version: ComputeVersion,
}

/// The versions of the compute API: one.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeVersionsAnswer {
    versions: [ComputeVersion; 1],
}

/// A version of the compute API.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeVersion {
    /// `v2.1`.
    id: &'static str,
    /// `CURRENT`.
    status: &'static str,
    /// The newest microversion.
    version: String,
    /// The oldest one.
    min_version: String,
    /// When it was last changed without a microversion.
    updated: &'static str,
    /// Where it is served.
    links: Vec<ComputeVersionLink>,
    /// Media types, in the document of the version alone.
    #[serde(rename = "media-types", skip_serializing_if = "Vec::is_empty")]
    media_types: Vec<ComputeMediaType>,
}

/// A link of a version.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeVersionLink {
    rel: &'static str,
    href: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
}

/// A media type of a version.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeMediaType {
    base: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
}

impl ComputeVersion {
    fn at(address: String) -> Self {
        Self {
            id: "v2.1",
            status: "CURRENT",
            version: Microversion::MAX.to_string(),
            min_version: Microversion::MIN.to_string(),
            updated: UPDATED,
            links: vec![ComputeVersionLink { rel: "self", href: address, kind: None }],
            media_types: Vec::new(),
        }
    }
}

/// The version of the compute API that is served here.
#[utoipa::path(get, path = "/v2.1/", tag = "compute versions", security(()),
    responses((status = 200, description = "The version, with its microversions.",
        body = ComputeVersionAnswer)))]
pub async fn version(
    request: HttpRequest,
    shared: Data<Shared>,
    admitted: ReqData<Admitted>,
) -> HttpResponse {
    let (address, reached) = address(&request, &shared, admitted.prefixed);
    let mut version = ComputeVersion::at(address);
    version.links.push(ComputeVersionLink {
        rel: "describedby",
        href: reached.address(&format!("{}/docs/", reached.prefix())),
        kind: Some("text/html"),
    });
    version.media_types = vec![ComputeMediaType {
        base: "application/json",
        kind: "application/vnd.openstack.compute+json;version=2.1",
    }];
    HttpResponse::Ok().json(ComputeVersionAnswer { version })
}

/// The versions of the compute API, at `[api] compute_prefix`.
pub async fn versions(
    request: HttpRequest,
    shared: Data<Shared>,
    admitted: ReqData<Admitted>,
) -> HttpResponse {
    let (address, _) = address(&request, &shared, admitted.prefixed);
    HttpResponse::Ok().json(ComputeVersionsAnswer { versions: [ComputeVersion::at(address)] })
}

/// Where the version is served for this caller.
fn address(request: &HttpRequest, shared: &Shared, prefixed: bool) -> (String, Reached) {
    let settings = shared.api.settings.load();
    let proxied = settings.oslo_middleware.enable_proxy_headers_parsing;
    let reached = Reached::of(request.headers(), proxied);
    let address = reached.address(&format!("{}/", base(&reached, prefixed, None, &settings)));
    (address, reached)
}

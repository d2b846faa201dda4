//! The version document.

use super::call::Answer;
use crate::{
    gate::Admitted,
    media,
    state::Shared,
    version::{Feature, Version},
};
use actix_web::{
    HttpResponse,
    http::header::{self, HttpDate, LastModified},
    web::{Data, ReqData},
};
use serde::Serialize;
use std::time::{Duration, UNIX_EPOCH};
use utoipa::ToSchema;

/// What versions there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct Versions {
    versions: [VersionEntry; 1],
}

/// A version.
#[derive(Debug, Serialize, ToSchema)]
pub struct VersionEntry {
    id: String,
    max_version: String,
    min_version: String,
    status: &'static str,
    links: [SelfLink; 1],
}

/// Where the version is: here.
#[derive(Debug, Serialize, ToSchema)]
pub struct SelfLink {
    rel: &'static str,
    href: &'static str,
}

/// The versions of the Placement API.
#[utoipa::path(get, path = "/", tag = "versions", security(()),
    responses((status = 200, description = "The one version, with its microversions.",
        body = Versions)))]
pub async fn versions(shared: Data<Shared>, admitted: ReqData<Admitted>) -> Answer {
    let document = Versions {
        versions: [VersionEntry {
            id: format!("v{}", Version::MIN),
            max_version: Version::MAX.to_string(),
            min_version: Version::MIN.to_string(),
            status: "CURRENT",
            links: [SelfLink { rel: "self", href: "" }],
        }],
    };
    let mut response = HttpResponse::Ok();
    if admitted.version.has(Feature::CacheHeaders) {
        let seconds = u64::try_from(shared.now().seconds()).unwrap_or(0);
        let date = HttpDate::from(UNIX_EPOCH + Duration::from_secs(seconds));
        response.insert_header((header::LAST_MODIFIED, LastModified(date)));
        response.insert_header((header::CACHE_CONTROL, "no-cache"));
    }
    response.insert_header((header::CONTENT_TYPE, media::JSON));
    Ok(response.json(document))
}

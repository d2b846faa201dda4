//! `/v1/topology`: which hosts are near to each other.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{app::resource, body::Body, failure::Failure, placement::path::Part};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web::{self, ServiceConfig},
};
use serde::Serialize;
use stowplan_batch::store::{self, DomainRequest, ObjectKind, TopologyDomain};
use stowplan_ledger::Image;
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(paths(list, show, put, delete))]
struct Document;

/// The descriptions of these calls.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds these calls.
pub fn routes(config: &mut ServiceConfig) {
    config.service(resource("/topology", [(Method::GET, web::to(list))])).service(resource(
        "/topology/{domain}",
        [
            (Method::GET, web::to(show)),
            (Method::PUT, web::to(put)),
            (Method::DELETE, web::to(delete)),
        ],
    ));
}

/// Topology domains.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainList {
    domains: Vec<TopologyDomain>,
}

/// A topology domain with what is in it now.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainView {
    #[serde(flatten)]
    domain: TopologyDomain,
    /// Names of all hosts in it, those of its members included, as far as they
    /// are known.
    hosts: Vec<String>,
}

impl DomainView {
    fn of(image: &Image, name: &str) -> Result<Self, Failure> {
        let domain = store::domain(image, name)?;
        let hosts = store::hosts_of(image, &domain).into_iter().collect();
        Ok(Self { domain, hosts })
    }
}

/// Lists topology domains, in order of creation.
#[utoipa::path(get, path = "/v1/topology", tag = "jobs", security(("token" = [])),
    responses((status = 200, description = "All domains.", body = DomainList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:topology:list")?;
    Params::of(&request)?.finish()?;
    let domains = store::domains(&caller.api().ledger.image()).collect();
    Ok(json(StatusCode::OK, &DomainList { domains }))
}

/// Shows a topology domain with all hosts in it.
#[utoipa::path(get, path = "/v1/topology/{domain}", tag = "jobs", security(("token" = [])),
    params(("domain" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "The domain.", body = DomainView),
        (status = 404, description = "There is no such domain."),
    ))]
pub async fn show(caller: Caller, Part(domain): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:topology:show")?;
    let view = DomainView::of(&caller.api().ledger.image(), &domain)?;
    Ok(json(StatusCode::OK, &view))
}

/// Puts a topology domain. Domains form a tree: a domain is a member of one
/// other at most, of a higher tier; a host is named by one domain of each tier
/// at most. Members need not be there yet. Jobs that have their place keep it.
#[utoipa::path(put, path = "/v1/topology/{domain}", tag = "jobs", security(("token" = [])),
    params(("domain" = String, Path, description = "Its name.")),
    request_body(content = DomainRequest, example = json!({
        "tier": 1, "tier_name": "rack",
        "members": [{"type": "host", "name": "cmp-1"}, {"labels": {"rack": "r1"}}],
    })),
    responses(
        (status = 200, description = "The domain, changed.", body = DomainView),
        (status = 201, description = "The domain, made.", body = DomainView),
        (status = 400, description = "Fields that cannot be, by themselves or beside the other \
            domains."),
    ))]
pub async fn put(
    caller: Caller,
    Part(domain): Part,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:topology:put")?;
    let asked = store::read_domain(&body)?;
    let (key, now) = (domain.clone(), caller.now());
    let new = caller.write(move |image| store::put_domain(image, &key, &asked, now)).await?;
    let view = DomainView::of(&caller.api().ledger.image(), &domain)?;
    Ok(json(if new { StatusCode::CREATED } else { StatusCode::OK }, &view))
}

/// Deletes a topology domain. Domains that had it as a member keep its name,
/// which then stands for nothing.
#[utoipa::path(delete, path = "/v1/topology/{domain}", tag = "jobs", security(("token" = [])),
    params(("domain" = String, Path, description = "Its name.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such domain."),
    ))]
pub async fn delete(caller: Caller, Part(domain): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:topology:delete")?;
    caller.write(move |image| store::delete_object(image, ObjectKind::Domain, &domain)).await?;
    Ok(HttpResponse::NoContent().finish())
}

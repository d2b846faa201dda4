//! The scheduler's part of the compute API, microversions 2.1 to 2.102.
//!
//! A handler takes a [`call::Call`], which has passed the table of
//! [`operations`], reads its body against [`schemas`], makes one call into the
//! scheduler crate and answers with one of the views.

mod aggregates;
mod beyond;
mod call;
mod document;
mod groups;
mod hypervisors;
mod operations;
mod path;
mod query;
mod refusals;
mod schemas;
mod services;
pub mod version;
mod versions;
mod view;
mod zones;

pub use document::openapi;

use crate::{
    app::{no_route, resource},
    placement::{delete, get, post, put},
    surface,
};
use actix_web::{
    Scope,
    web::{self, ServiceConfig},
};

/// The API where it is always served.
pub fn scope() -> Scope {
    web::scope(surface::COMPUTE).configure(routes).default_service(web::to(no_route))
}

/// Adds what is served under `[api] compute_prefix`: the list of versions, and
/// the version.
pub fn versions(config: &mut ServiceConfig) {
    config
        .service(scope())
        .service(resource("/", [get(versions::versions)]))
        .service(resource("", [get(versions::versions)]));
}

/// Adds the paths of the version to a scope. The peer's clients may put the
/// project between the version and the rest.
fn routes(config: &mut ServiceConfig) {
    let project = format!("/{{{}:[0-9a-f-]+}}", call::PROJECT);
    config
        .configure(calls)
        .service(resource("/", [get(versions::version)]))
        .service(resource("", [get(versions::version)]))
        .service(web::scope(&project).configure(calls).default_service(web::to(no_route)));
}

fn calls(config: &mut ServiceConfig) {
    config
        .service(resource("/os-aggregates", [get(aggregates::list), post(aggregates::create)]))
        .service(resource(
            "/os-aggregates/{id}",
            [get(aggregates::show), put(aggregates::update), delete(aggregates::delete)],
        ))
        .service(resource("/os-aggregates/{id}/action", [post(aggregates::act)]))
        .service(resource("/os-aggregates/{id}/images", [post(aggregates::cache)]))
        .service(resource("/os-server-groups", [get(groups::list), post(groups::create)]))
        .service(resource("/os-server-groups/{id}", [get(groups::show), delete(groups::delete)]))
        .service(resource("/os-availability-zone", [get(zones::list)]))
        .service(resource("/os-availability-zone/detail", [get(zones::detail)]))
        .service(resource("/os-hypervisors", [get(hypervisors::list)]))
        .service(resource("/os-hypervisors/detail", [get(hypervisors::detail)]))
        .service(resource("/os-hypervisors/statistics", [get(hypervisors::statistics)]))
        .service(resource("/os-hypervisors/{id}", [get(hypervisors::show)]))
        .service(resource("/os-hypervisors/{id}/uptime", [get(hypervisors::uptime)]))
        .service(resource("/os-hypervisors/{id}/search", [get(hypervisors::search)]))
        .service(resource("/os-hypervisors/{id}/servers", [get(hypervisors::servers)]))
        .service(resource("/os-services", [get(services::list)]))
        .service(resource("/os-services/{id}", [put(services::update), delete(services::delete)]))
        .service(web::resource(beyond::paths()).route(web::route().to(beyond::refuse)));
}

//! The Placement API, microversions 1.0 to 1.39.
//!
//! A handler takes a [`call::Call`], which has passed the table of
//! [`operations`], reads its body or query against [`schemas`], makes one call
//! into the placement crate and answers with one of the views.

mod aggregates;
mod allocations;
mod call;
mod candidates;
mod claims;
mod classes;
mod document;
mod fields;
mod inventories;
mod operations;
pub(crate) mod path;
mod providers;
pub(crate) mod query;
mod reshaper;
mod root;
mod schemas;
mod traits;
mod usages;
mod view;

pub use document::openapi;

use crate::app::resource;
use actix_web::{
    FromRequest, Handler, Responder, Route,
    http::Method,
    web::{self, ServiceConfig},
};

/// Adds the paths of the API to a scope, those that are asked most first.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/allocation_candidates", [get(candidates::list)]))
        .service(resource(
            "/allocations/{consumer_uuid}",
            [get(allocations::show), put(allocations::put), delete(allocations::delete)],
        ))
        .service(resource("/allocations", [post(allocations::post)]))
        .service(resource("/usages", [get(usages::total)]))
        .service(resource("/resource_providers", [get(providers::list), post(providers::create)]))
        .service(resource(
            "/resource_providers/{uuid}",
            [get(providers::show), delete(providers::delete), put(providers::update)],
        ))
        .service(resource(
            "/resource_providers/{uuid}/inventories",
            [
                get(inventories::list),
                post(inventories::create),
                put(inventories::set),
                delete(inventories::delete_all),
            ],
        ))
        .service(resource(
            "/resource_providers/{uuid}/inventories/{resource_class}",
            [get(inventories::show), put(inventories::update), delete(inventories::delete)],
        ))
        .service(resource("/resource_providers/{uuid}/usages", [get(usages::of_provider)]))
        .service(resource(
            "/resource_providers/{uuid}/aggregates",
            [get(aggregates::list), put(aggregates::set)],
        ))
        .service(resource(
            "/resource_providers/{uuid}/traits",
            [
                get(traits::of_provider),
                put(traits::set_of_provider),
                delete(traits::delete_of_provider),
            ],
        ))
        .service(resource(
            "/resource_providers/{uuid}/allocations",
            [get(allocations::of_provider)],
        ))
        .service(resource("/traits", [get(traits::list)]))
        .service(resource(
            "/traits/{name}",
            [get(traits::show), put(traits::put), delete(traits::delete)],
        ))
        .service(resource("/resource_classes", [get(classes::list), post(classes::create)]))
        .service(resource(
            "/resource_classes/{name}",
            [get(classes::show), put(classes::update), delete(classes::delete)],
        ))
        .service(resource("/reshaper", [post(reshaper::reshape)]))
        .service(resource("/", [get(root::versions)]))
        .service(resource("", [get(root::versions)]));
}

/// Makes functions that pair a method with its handler.
macro_rules! methods {
    ($($name:ident: $method:ident),+) => {
        $(
            pub(crate) fn $name<F, Args>(handler: F) -> (Method, Route)
            where
                F: Handler<Args>,
                Args: FromRequest + 'static,
                F::Output: Responder + 'static,
            {
                (Method::$method, web::route().to(handler))
            }
        )+
    };
}

methods!(get: GET, put: PUT, post: POST, delete: DELETE);

//! Usages of a provider and of a project.

use super::{
    call::{Answer, Call, provider_uuid},
    operations::{ProviderUsages as OfProvider, TotalUsages},
    path::Part,
    schemas,
    view::{ProviderUsages, TypedUsages, Usages},
};
use crate::{query::Query, version::Feature};
use actix_web::HttpRequest;
use stowplan_placement::{
    names::provider,
    queries::{ConsumerTypeFilter, project_usages, type_usages},
};

/// Shows what is in use at a provider.
#[utoipa::path(get, path = "/resource_providers/{uuid}/usages", tag = "usages",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    responses(
        (status = 200, description = "What is in use.", body = ProviderUsages<'static>),
        (status = 404, description = "There is no such provider."),
    ))]
pub async fn of_provider(call: Call<OfProvider>, Part(uuid): Part) -> Answer {
    let image = call.image();
    let at = provider(&image, provider_uuid(&uuid)?)?;
    call.json(&ProviderUsages::new(&image, at), call.now())
}

/// Shows what a project holds.
#[utoipa::path(get, path = "/usages", tag = "usages",
    params(
        ("project_id" = String, Query, description = "The project."),
        ("user_id" = Option<String>, Query, description = "A user of it."),
        ("consumer_type" = Option<String>, Query, description = "A consumer type, `all` in one, or `unknown` (from 1.38 on)."),
    ),
    extensions(("x-openstack" = json!({"min-ver": "1.9"}))),
    responses((status = 200, description = "What is held, by consumer type (from 1.38 on) and class.",
        body = TypedUsages<'static>)))]
pub async fn total(call: Call<TotalUsages>, request: HttpRequest) -> Answer {
    let query = Query::parse(request.query_string())?;
    query.check(schemas::usage_query(call.version))?;
    let project = query.last("project_id").unwrap_or_default();
    let user = query.last("user_id");
    let image = call.image();
    if call.version.has(Feature::ConsumerTypes) {
        let filter = ConsumerTypeFilter::of_parameter(query.last("consumer_type"));
        let usages = type_usages(&image, project, user, &filter);
        call.json(&TypedUsages::new(&image, &usages), call.now())
    } else {
        let usages = project_usages(&image, project, user);
        call.json(&Usages::new(&image, &usages), call.now())
    }
}

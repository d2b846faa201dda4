//! The description of the compute API: its operations, and the schemas of
//! bodies, made from the very tables that bodies are checked against.

use super::{
    aggregates, groups, hypervisors, schemas, services, versions, versions::ComputeVersionsAnswer,
    view::ServiceActionAnswer, zones,
};
use crate::{
    description::{add_version_and_token, bodies},
    schema::describe,
};
use std::borrow::Cow;
use utoipa::{
    Modify, OpenApi, PartialSchema, ToSchema,
    openapi::{RefOr, Schema, schema::OneOfBuilder},
};

bodies! {
    /// A new host aggregate.
    AggregateBody = schemas::CREATE_AGGREGATE;
    /// What is to change of a host aggregate.
    AggregateUpdateBody = schemas::UPDATE_AGGREGATE;
    /// Images.
    ImagesBody = schemas::CACHE_IMAGES;
    /// A new server group.
    ServerGroupBody = schemas::GROUP_2_64;
    /// What is to change of a service.
    ServiceBody = schemas::SERVICE_2_53;
}

/// What is done to an aggregate: one of the actions.
#[derive(Debug)]
pub struct ActionBody;

impl PartialSchema for ActionBody {
    fn schema() -> RefOr<Schema> {
        let actions = [schemas::ADD_HOST, schemas::REMOVE_HOST, schemas::SET_METADATA];
        let one_of = actions.iter().fold(OneOfBuilder::new(), |all, one| all.item(describe(one)));
        one_of.into()
    }
}

impl ToSchema for ActionBody {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ActionBody")
    }
}

#[derive(OpenApi)]
#[openapi(
    paths(
        versions::version,
        aggregates::list,
        aggregates::create,
        aggregates::show,
        aggregates::update,
        aggregates::delete,
        aggregates::act,
        aggregates::cache,
        groups::list,
        groups::create,
        groups::show,
        groups::delete,
        zones::list,
        zones::detail,
        hypervisors::list,
        hypervisors::detail,
        hypervisors::statistics,
        hypervisors::show,
        hypervisors::uptime,
        hypervisors::search,
        hypervisors::servers,
        services::list,
        services::update,
        services::delete,
    ),
    components(schemas(ServiceActionAnswer, ComputeVersionsAnswer)),
    modifiers(&Compute),
    tags(
        (name = "compute versions", description = "The compute API: which version there is."),
        (name = "compute aggregates", description = "The compute API: hosts with metadata."),
        (name = "compute server groups", description = "The compute API: servers that stay together or apart."),
        (name = "compute availability zones", description = "The compute API: parts of the cloud."),
        (name = "compute hypervisors", description = "The compute API: hosts and what they hold."),
        (name = "compute services", description = "The compute API: services in and out of scheduling."),
    ),
)]
struct Document;

/// The description of the compute API.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// What all operations have in common: the version header and the token.
struct Compute;

impl Modify for Compute {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let about = "`compute 2.N` or `compute latest`; without it 2.1 answers. \
                     `X-OpenStack-Nova-API-Version: 2.N` is read too.";
        add_version_and_token(document, about);
    }
}

//! `/v1/queues`: where jobs wait.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{app::resource, failure::Failure, placement::path::Part};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web::{self, ServiceConfig},
};
use serde::Serialize;
use stowplan_batch::{
    BatchError,
    views::{self, QueueView},
};
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(
    paths(list, show),
    tags((name = "queues", description = "Queues of batch jobs."))
)]
struct Document;

/// The descriptions of these calls.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds these calls.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/queues", [(Method::GET, web::to(list))]))
        .service(resource("/queues/{queue}", [(Method::GET, web::to(show))]));
}

/// Queues.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueList {
    queues: Vec<QueueView>,
}

/// Lists queues, in order of their names. `root` and `default` always exist.
#[utoipa::path(get, path = "/v1/queues", tag = "queues", security(("token" = [])),
    responses((status = 200, description = "All queues.", body = QueueList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:list")?;
    Params::of(&request)?.finish()?;
    let queues = views::queues(&caller.api().ledger.image());
    Ok(json(StatusCode::OK, &QueueList { queues }))
}

/// Shows a queue: what it and the queues below it hold, and their jobs by
/// phase.
#[utoipa::path(get, path = "/v1/queues/{queue}", tag = "queues", security(("token" = [])),
    params(("queue" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "The queue.", body = QueueView),
        (status = 404, description = "There is no such queue."),
    ))]
pub async fn show(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:show")?;
    let queue = views::queue(&caller.api().ledger.image(), &name);
    let queue = queue.ok_or(BatchError::NoQueue(name))?;
    Ok(json(StatusCode::OK, &queue))
}

//! `/v1/priority-classes` and `/v1/quotas`: what steers jobs.

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
use stowplan_batch::store::{
    self, ObjectKind, PriorityClass, PriorityClassRequest, Quota, QuotaRequest,
};
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(paths(
    list_classes,
    show_class,
    put_class,
    delete_class,
    list_quotas,
    show_quota,
    put_quota,
    delete_quota,
))]
struct Document;

/// The descriptions of these calls.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds these calls.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/priority-classes", [(Method::GET, web::to(list_classes))]))
        .service(resource(
            "/priority-classes/{name}",
            [
                (Method::GET, web::to(show_class)),
                (Method::PUT, web::to(put_class)),
                (Method::DELETE, web::to(delete_class)),
            ],
        ))
        .service(resource("/quotas", [(Method::GET, web::to(list_quotas))]))
        .service(resource(
            "/quotas/{project}",
            [
                (Method::GET, web::to(show_quota)),
                (Method::PUT, web::to(put_quota)),
                (Method::DELETE, web::to(delete_quota)),
            ],
        ));
}

/// Priority classes.
#[derive(Debug, Serialize, ToSchema)]
pub struct PriorityClassList {
    priority_classes: Vec<PriorityClass>,
}

/// Quotas of projects.
#[derive(Debug, Serialize, ToSchema)]
pub struct QuotaList {
    quotas: Vec<Quota>,
}

/// Lists priority classes, in order of creation.
#[utoipa::path(get, path = "/v1/priority-classes", tag = "jobs", security(("token" = [])),
    responses((status = 200, description = "All classes.", body = PriorityClassList)))]
pub async fn list_classes(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:priority_classes:list")?;
    Params::of(&request)?.finish()?;
    let priority_classes = store::priority_classes(&caller.api().ledger.image()).collect();
    Ok(json(StatusCode::OK, &PriorityClassList { priority_classes }))
}

/// Shows a priority class.
#[utoipa::path(get, path = "/v1/priority-classes/{name}", tag = "jobs", security(("token" = [])),
    params(("name" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "The class.", body = PriorityClass),
        (status = 404, description = "There is no such class."),
    ))]
pub async fn show_class(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:priority_classes:show")?;
    let class = store::priority_class(&caller.api().ledger.image(), &name)?;
    Ok(json(StatusCode::OK, &class))
}

/// Puts a priority class. Jobs that were submitted before keep the priority
/// that they have.
#[utoipa::path(put, path = "/v1/priority-classes/{name}", tag = "jobs", security(("token" = [])),
    params(("name" = String, Path, description = "Its name.")),
    request_body(content = PriorityClassRequest, example = json!({
        "value": 1000, "preemption_policy": "PreemptLowerPriority", "global_default": false,
    })),
    responses(
        (status = 200, description = "The class, changed.", body = PriorityClass),
        (status = 201, description = "The class, made.", body = PriorityClass),
        (status = 400, description = "Fields that cannot be."),
    ))]
pub async fn put_class(
    caller: Caller,
    Part(name): Part,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:priority_classes:put")?;
    let asked = store::read_priority_class(&body)?;
    let (key, now) = (name.clone(), caller.now());
    let new =
        caller.write(move |image| store::put_priority_class(image, &key, &asked, now)).await?;
    let class = store::priority_class(&caller.api().ledger.image(), &name)?;
    Ok(json(made(new), &class))
}

/// Deletes a priority class. Jobs that were submitted with it keep their
/// priority.
#[utoipa::path(delete, path = "/v1/priority-classes/{name}", tag = "jobs",
    security(("token" = [])),
    params(("name" = String, Path, description = "Its name.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such class."),
    ))]
pub async fn delete_class(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:priority_classes:delete")?;
    delete(caller, ObjectKind::PriorityClass, name).await
}

/// Lists quotas, in order of creation.
#[utoipa::path(get, path = "/v1/quotas", tag = "jobs", security(("token" = [])),
    responses((status = 200, description = "All quotas.", body = QuotaList)))]
pub async fn list_quotas(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:quotas:list")?;
    Params::of(&request)?.finish()?;
    let quotas = store::quotas(&caller.api().ledger.image()).collect();
    Ok(json(StatusCode::OK, &QuotaList { quotas }))
}

/// Shows the quota of a project.
#[utoipa::path(get, path = "/v1/quotas/{project}", tag = "jobs", security(("token" = [])),
    params(("project" = String, Path, description = "The project: the namespace of its jobs.")),
    responses(
        (status = 200, description = "The quota.", body = Quota),
        (status = 404, description = "The project has none."),
    ))]
pub async fn show_quota(caller: Caller, Part(project): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:quotas:show")?;
    let quota = store::quota(&caller.api().ledger.image(), &project)?;
    Ok(json(StatusCode::OK, &quota))
}

/// Puts the quota of a project: what its jobs may hold at most. Plugin
/// `resourcequota` admits no job beyond it; what runs already stays.
#[utoipa::path(put, path = "/v1/quotas/{project}", tag = "jobs", security(("token" = [])),
    params(("project" = String, Path, description = "The project: the namespace of its jobs.")),
    request_body(content = QuotaRequest, example = json!({"hard": {"cpu": "64"}})),
    responses(
        (status = 200, description = "The quota, changed.", body = Quota),
        (status = 201, description = "The quota, made.", body = Quota),
        (status = 400, description = "Fields that cannot be."),
    ))]
pub async fn put_quota(
    caller: Caller,
    Part(project): Part,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:quotas:put")?;
    let asked = store::read_quota(&body)?;
    let (key, dims, now) = (project.clone(), caller.dims()?, caller.now());
    let new = caller.write(move |image| store::put_quota(image, &key, &asked, &dims, now)).await?;
    let quota = store::quota(&caller.api().ledger.image(), &project)?;
    Ok(json(made(new), &quota))
}

/// Deletes the quota of a project.
#[utoipa::path(delete, path = "/v1/quotas/{project}", tag = "jobs", security(("token" = [])),
    params(("project" = String, Path, description = "The project: the namespace of its jobs.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "The project has none."),
    ))]
pub async fn delete_quota(caller: Caller, Part(project): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:quotas:delete")?;
    delete(caller, ObjectKind::Quota, project).await
}

async fn delete(caller: Caller, kind: ObjectKind, name: String) -> Result<HttpResponse, Failure> {
    caller.write(move |image| store::delete_object(image, kind, &name)).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn made(new: bool) -> StatusCode {
    if new { StatusCode::CREATED } else { StatusCode::OK }
}

//! What executors say and ask: `/v1/task-reports`, the tasks of a host, and
//! that a host is fenced.

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
use stowplan_batch::{
    BatchError,
    store::{self, ReportVerdict, TaskReport},
    views::{self, TaskView},
};
use stowplan_engine::config::EngineConfig;
use stowplan_model::Uuid;
use stowplan_scheduler::{
    body::read_list,
    hosts::{self, HostState},
};
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(paths(report, on_host, fence))]
struct Document;

/// The descriptions of these calls.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds these calls.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/task-reports", [(Method::POST, web::to(report))]))
        .service(resource("/hosts/{host}/tasks", [(Method::GET, web::to(on_host))]))
        .service(resource("/hosts/{host}/fence", [(Method::PUT, web::to(fence))]));
}

/// What became of reports, in their order.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportAnswer {
    verdicts: Vec<ReportVerdict>,
}

/// What a host is to run.
#[derive(Debug, Serialize, ToSchema)]
pub struct HostTasks {
    /// The ledger's sequence number of this answer: `since` of the events to
    /// go on with.
    seq: i64,
    tasks: Vec<TaskView>,
}

/// What a fence has freed.
#[derive(Debug, Serialize, ToSchema)]
pub struct FenceAnswer {
    /// The tasks that were on the host.
    tasks: Vec<Uuid>,
}

/// Takes in what executors say of tasks, each report for itself, in their
/// order. The attempt is that of the bind reported on; repeating a report does
/// no harm, and one of an older attempt is answered 409 in its verdict.
#[utoipa::path(post, path = "/v1/task-reports", tag = "jobs", security(("token" = [])),
    request_body(content = Vec<TaskReport>, example = json!([
        {"task": "6b1c0c3e-3e0f-5a53-9a0e-51b152b93a4d", "attempt": 1, "state": "Running"},
        {"task": "0f3d0f1f-2a3b-5c0e-8f3a-5f4c5a9e5b3c", "attempt": 2, "state": "Failed",
            "exit_code": 3, "message": "out of memory"},
    ])),
    responses(
        (status = 200, description = "A verdict for each report.", body = ReportAnswer),
        (status = 400, description = "A report that cannot be read: none was taken in."),
    ))]
pub async fn report(caller: Caller, Body(body): Body) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:tasks:report")?;
    let reports: Vec<TaskReport> = read_list(&body, "reports").map_err(BatchError::from)?;
    let now = caller.now();
    let verdicts = caller.write_always(move |image| store::report(image, &reports, now)).await?;
    Ok(json(StatusCode::OK, &ReportAnswer { verdicts }))
}

/// Lists the tasks that a host is to run, and those that have to leave it: what
/// an executor brings about, whatever events it has missed. A task that it
/// runs and that is not listed is to be stopped.
#[utoipa::path(get, path = "/v1/hosts/{host}/tasks", tag = "jobs", security(("token" = [])),
    params(
        ("host" = String, Path, description = "The host's name."),
        ("node" = Option<String>, Query, description = "One of its nodes alone."),
    ),
    responses(
        (status = 200, description = "Its tasks, in order of creation.", body = HostTasks),
        (status = 404, description = "There is no such host."),
    ))]
pub async fn on_host(
    caller: Caller,
    Part(host): Part,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:tasks:list")?;
    let mut params = Params::of(&request)?;
    let node = params.text("node");
    params.finish()?;
    let image = caller.api().ledger.image();
    let tasks = nodes(&image, &host, node.as_deref())?
        .into_iter()
        .flat_map(|node| views::tasks_on(&image, node))
        .collect();
    Ok(json(StatusCode::OK, &HostTasks { seq: image.seq(), tasks }))
}

/// Says that nothing runs on a host any more, whatever it was given: its tasks
/// wait again for other hosts, and what they held is free. A host that is up
/// is not fenced, unless `force` says that it is known what that means.
#[utoipa::path(put, path = "/v1/hosts/{host}/fence", tag = "jobs", security(("token" = [])),
    params(
        ("host" = String, Path, description = "The host's name."),
        ("node" = Option<String>, Query, description = "One of its nodes alone."),
        ("force" = Option<bool>, Query, description = "Though it is up."),
    ),
    responses(
        (status = 200, description = "The tasks that were there.", body = FenceAnswer),
        (status = 404, description = "There is no such host."),
        (status = 409, description = "It is up."),
    ))]
pub async fn fence(
    caller: Caller,
    Part(host): Part,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:hosts:fence")?;
    let mut params = Params::of(&request)?;
    let (node, force) = (params.text("node"), params.flag("force"));
    params.finish()?;
    let now = caller.now();
    let image = caller.api().ledger.image();
    let nodes = nodes(&image, &host, node.as_deref())?;
    let config = EngineConfig::from(&**caller.api().settings.load());
    let is_up = |uuid: &Uuid| {
        let host = image.hosts.get(*uuid);
        host.is_some_and(|host| hosts::state(&image, host, &config, now) == HostState::Up)
    };
    if !force && nodes.iter().any(is_up) {
        return Err(BatchError::HostUp(host).into());
    }
    let fenced = caller.write_always(move |image| store::fence(image, &nodes, now)).await?;
    Ok(json(StatusCode::OK, &FenceAnswer { tasks: fenced.tasks }))
}

/// The nodes of a host, or the one that is named.
fn nodes(
    image: &stowplan_ledger::Image,
    host: &str,
    node: Option<&str>,
) -> Result<Vec<Uuid>, Failure> {
    if node.is_some() || image.hosts.nodes_of(host).next().is_none() {
        return Ok(vec![hosts::find(image, host, node)?.row.uuid]);
    }
    Ok(image.hosts.nodes_of(host).map(|host| host.row.uuid).collect())
}

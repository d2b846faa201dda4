//! `/v1/jobs`: batch jobs.

mod control;
mod submit;

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{
    app::resource,
    failure::{Code, Failure},
    placement::path::Part,
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web::{self, ServiceConfig},
};
use serde::Serialize;
use stowplan_batch::{
    BatchError,
    explain::{self, JobExplanation},
    life::JobPhase,
    store,
    views::{self, JobDetail, JobFilter, JobSummary, TaskView},
};
use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_scheduler::fields::FieldErrors;
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(
    paths(
        list, submit::submit, show, control::update, forget, control::cancel, control::suspend,
        control::resume, control::requeue, tasks, explain,
    ),
    tags((name = "jobs", description = "Batch jobs and their tasks."))
)]
struct Document;

/// The descriptions of these calls.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds these calls.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource(
            "/jobs",
            [(Method::GET, web::to(list)), (Method::POST, web::to(submit::submit))],
        ))
        // Before the job itself, whose pattern would take the verb for a part
        // of the id.
        .service(resource("/jobs/{job}:cancel", [(Method::POST, web::to(control::cancel))]))
        .service(resource("/jobs/{job}:suspend", [(Method::POST, web::to(control::suspend))]))
        .service(resource("/jobs/{job}:resume", [(Method::POST, web::to(control::resume))]))
        .service(resource("/jobs/{job}:requeue", [(Method::POST, web::to(control::requeue))]))
        .service(resource(
            "/jobs/{job}",
            [
                (Method::GET, web::to(show)),
                (Method::PATCH, web::to(control::update)),
                (Method::DELETE, web::to(forget)),
            ],
        ))
        .service(resource("/jobs/{job}/explain", [(Method::GET, web::to(explain))]))
        .service(resource("/jobs/{job}/tasks", [(Method::GET, web::to(tasks))]));
}

/// A page of jobs.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobList {
    jobs: Vec<JobSummary>,
    /// The marker of the next page; null after the last one.
    next: Option<Uuid>,
}

/// The tasks of a job.
#[derive(Debug, Serialize, ToSchema)]
pub struct TaskList {
    tasks: Vec<TaskView>,
}

/// Lists jobs, in order of submission.
#[utoipa::path(get, path = "/v1/jobs", tag = "jobs", security(("token" = [])),
    params(
        ("limit" = Option<i64>, Query, description = "Jobs in the page."),
        ("marker" = Option<Uuid>, Query, description = "The `next` of the page before."),
        ("queue" = Option<String>, Query, description = "Those of one queue."),
        ("namespace" = Option<String>, Query, description = "Those of one namespace."),
        ("name" = Option<String>, Query, description = "Those of one name."),
        ("project" = Option<String>, Query, description = "Those of one project: another word \
            for `namespace`."),
        ("phase" = Option<String>, Query, description = "Those in one phase."),
        ("host" = Option<String>, Query, description = "Those with a task on one host."),
        ("label" = Option<String>, Query, description = "Those with tasks of a label: `key`, or \
            `key=value`.", example = "team=blue"),
    ),
    responses((status = 200, description = "A page of jobs.", body = JobList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:list")?;
    let mut params = Params::of(&request)?;
    let (filter, namespace) = (filter(&mut params), params.text("namespace"));
    let project = params.text("project");
    if let (Some(_), Some(project)) = (&namespace, &project) {
        params.refuse("project", project, "nothing beside namespace: both are the same");
    }
    let marker = params.uuid("marker");
    let limit = params.limit(caller.api().settings.load().api.max_limit);
    params.finish()?;
    let filter = JobFilter { namespace: namespace.or(project), ..filter };
    let image = caller.api().ledger.image();
    check_marker(&image, marker)?;
    let page = views::jobs(&image, &filter, marker, limit);
    Ok(json(StatusCode::OK, &JobList { jobs: page.jobs, next: page.next }))
}

/// Which jobs are looked for, queue and namespace apart from those of a queue.
pub(super) fn filter(params: &mut Params) -> JobFilter {
    let phases: Vec<(&str, JobPhase)> =
        JobPhase::ALL.iter().map(|phase| (phase.as_str(), *phase)).collect();
    let label = |text: String| match text.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (text, None),
    };
    JobFilter {
        queue: params.text("queue"),
        name: params.text("name"),
        phase: params.word("phase", &phases),
        host: params.text("host"),
        label: params.text("label").map(label),
        ..JobFilter::default()
    }
}

/// That the marker of a page is a job.
pub(super) fn check_marker(image: &Image, marker: Option<Uuid>) -> Result<(), Failure> {
    let unknown = marker.filter(|marker| image.batch.jobs.get(*marker).is_none());
    let Some(marker) = unknown else { return Ok(()) };
    let mut errors = FieldErrors::default();
    errors.add("marker", &marker, "a job that exists");
    Err(BatchError::from(errors).into())
}

/// Shows a job with its specification, its tasks by state, and why it stands
/// where it stands.
#[utoipa::path(get, path = "/v1/jobs/{job}", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    responses(
        (status = 200, description = "The job.", body = JobDetail),
        (status = 404, description = "There is no such job."),
    ))]
pub async fn show(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:show")?;
    let image = caller.api().ledger.image();
    let job = views::job(&image, find(&key)?).ok_or_else(|| no_job(&key))?;
    Ok(json(StatusCode::OK, &job))
}

/// Lists the tasks of a job, role by role.
#[utoipa::path(get, path = "/v1/jobs/{job}/tasks", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    responses(
        (status = 200, description = "Its tasks with their hosts.", body = TaskList),
        (status = 404, description = "There is no such job."),
    ))]
pub async fn tasks(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:show")?;
    let image = caller.api().ledger.image();
    let tasks = views::tasks(&image, find(&key)?).ok_or_else(|| no_job(&key))?;
    Ok(json(StatusCode::OK, &TaskList { tasks }))
}

/// Says why a job waits: what the limits of its queues leave, what hosts lack,
/// how far its gang is, and which jobs come before it.
#[utoipa::path(get, path = "/v1/jobs/{job}/explain", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    responses(
        (status = 200, description = "Why it waits.", body = JobExplanation),
        (status = 404, description = "There is no such job."),
    ))]
pub async fn explain(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:explain")?;
    let job = find(&key)?;
    let (image, settings) = (caller.api().ledger.image(), caller.api().settings.load_full());
    let now = caller.now();
    let found = caller.beside(move || explain::job(&image, &settings, job, now)).await?;
    let found = found.map_err(|fault| Failure::new(Code::Unavailable, fault.to_string()))?;
    Ok(json(StatusCode::OK, &found.ok_or_else(|| no_job(&key))?))
}

/// Forgets a job that has ended and holds nothing any more.
#[utoipa::path(delete, path = "/v1/jobs/{job}", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such job."),
        (status = 409, description = "It has not ended: cancel it first."),
    ))]
pub async fn forget(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:delete")?;
    let job = find(&key)?;
    caller.write(move |image| store::forget(image, job)).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// The job that a path names.
fn find(key: &str) -> Result<Uuid, Failure> {
    Uuid::parse_str(key).map_err(|_| no_job(key))
}

fn no_job(key: &str) -> Failure {
    BatchError::NoJob(key.to_owned()).into()
}

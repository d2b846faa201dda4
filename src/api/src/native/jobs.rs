//! `/v1/jobs` and `/v1/task-reports`: batch jobs, and what executors say of
//! their tasks.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{
    app::resource,
    body::Body,
    failure::{Code, Failure},
    placement::path::Part,
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode, header},
    web::{self, ServiceConfig},
};
use serde::Serialize;
use std::convert::Infallible;
use stowplan_batch::{
    BatchError,
    amounts::Dims,
    life::JobPhase,
    spec::{self, JobRequest, Limits},
    store::{self, DEFAULT_QUEUE, ReportVerdict, Submission, TaskReport},
    views::{self, JobDetail, JobFilter, JobSummary, TaskView},
};
use stowplan_model::Uuid;
use stowplan_scheduler::fields::FieldErrors;
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(
    paths(list, submit, show, forget, cancel, tasks, report),
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
        .service(resource("/jobs", [(Method::GET, web::to(list)), (Method::POST, web::to(submit))]))
        // Before the job itself, whose pattern would take the verb for a part
        // of the id.
        .service(resource("/jobs/{job}:cancel", [(Method::POST, web::to(cancel))]))
        .service(resource(
            "/jobs/{job}",
            [(Method::GET, web::to(show)), (Method::DELETE, web::to(forget))],
        ))
        .service(resource("/jobs/{job}/tasks", [(Method::GET, web::to(tasks))]))
        .service(resource("/task-reports", [(Method::POST, web::to(report))]));
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        let code = match &error {
            BatchError::Fields(_) | BatchError::UnknownQueue(_) => Code::BadRequest,
            BatchError::NoQueue(_) | BatchError::NoJob(_) => Code::NotFound,
            BatchError::NameTaken { .. } => Code::DuplicateName,
            BatchError::QueueTakesNoJobs { .. }
            | BatchError::Ended { .. }
            | BatchError::NotEnded { .. } => Code::Conflict,
        };
        let detail = error.to_string();
        match error {
            BatchError::Fields(errors) => Self::new(code, detail).with("errors", errors.all()),
            _ => Self::new(code, detail),
        }
    }
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

/// What became of reports, in their order.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportAnswer {
    verdicts: Vec<ReportVerdict>,
}

/// Lists jobs, in order of submission.
#[utoipa::path(get, path = "/v1/jobs", tag = "jobs", security(("token" = [])),
    params(
        ("limit" = Option<i64>, Query, description = "Jobs in the page."),
        ("marker" = Option<Uuid>, Query, description = "The `next` of the page before."),
        ("queue" = Option<String>, Query, description = "Those of one queue."),
        ("namespace" = Option<String>, Query, description = "Those of one namespace."),
        ("name" = Option<String>, Query, description = "Those of one name."),
        ("phase" = Option<String>, Query, description = "Those in one phase."),
    ),
    responses((status = 200, description = "A page of jobs.", body = JobList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:list")?;
    let phases: Vec<(&str, JobPhase)> =
        JobPhase::ALL.iter().map(|phase| (phase.as_str(), *phase)).collect();
    let mut params = Params::of(&request)?;
    let filter = JobFilter {
        queue: params.text("queue"),
        namespace: params.text("namespace"),
        name: params.text("name"),
        phase: params.word("phase", &phases),
    };
    let marker = params.uuid("marker");
    let limit = params.limit(caller.api().settings.load().api.max_limit);
    params.finish()?;
    let image = caller.api().ledger.image();
    if let Some(marker) = marker.filter(|marker| image.batch.jobs.get(*marker).is_none()) {
        let mut errors = FieldErrors::default();
        errors.add("marker", &marker, "a job that exists");
        return Err(BatchError::from(errors).into());
    }
    let page = views::jobs(&image, &filter, marker, limit);
    Ok(json(StatusCode::OK, &JobList { jobs: page.jobs, next: page.next }))
}

/// Submits a job: it waits in its queue until a cycle finds places for at
/// least `min_available` of its tasks at once, beside virtual machines and
/// other jobs.
///
/// What a task asks for is rounded up to whole units of the resource classes
/// that `[batch] resource_map` names, and held so. Fields of the model that
/// this version does not act on are refused.
#[utoipa::path(post, path = "/v1/jobs", tag = "jobs", security(("token" = [])),
    request_body(content = JobRequest, example = json!({
        "name": "train", "min_available": 5, "tasks": [
            {"role": "master", "requests": {"cpu": "500m", "memory": "1Gi"}},
            {"role": "worker", "count": 4, "requests": {"cpu": 4, "memory": "16Gi",
                "nvidia.com/gpu": 1}, "node_selector": {"zone": "a"}},
        ],
    })),
    responses(
        (status = 201, description = "The job; Location is its address.", body = JobDetail),
        (status = 400, description = "Fields that cannot be, all of them named."),
        (status = 409, description = "The name is taken, or the queue takes no jobs."),
    ))]
pub async fn submit(
    caller: Caller,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:create")?;
    Params::of(&request)?.finish()?;
    let mut asked = spec::read_job(&body)?;
    let settings = caller.api().settings.load();
    let dims = Dims::from_settings(&settings)
        .map_err(|fault| Failure::new(Code::Unavailable, fault.to_string()))?;
    let limits = Limits { tasks: u64::from(settings.batch.max_tasks_per_job) };
    let token = &caller.token;
    asked.namespace = asked.namespace.or_else(|| token.project.clone());
    let spec = spec::check(&asked, &token.user, &dims, limits).map_err(BatchError::from)?;
    let namespace = asked.namespace.ok_or_else(|| {
        let mut errors = FieldErrors::default();
        errors.add("namespace", &None::<&str>, "a name, as the token is of no project");
        BatchError::from(errors)
    })?;
    let uuid = Uuid::new_v4();
    let submission = Submission {
        uuid,
        namespace,
        name: asked.name.unwrap_or_else(|| uuid.to_string()),
        queue: asked.queue.unwrap_or_else(|| DEFAULT_QUEUE.to_owned()),
        spec,
    };
    let (ledger, now) = (&caller.api().ledger, caller.now());
    ledger.write(&caller.request_id, move |image| store::submit(image, &submission, now)).await?;
    let job = views::job(&ledger.image(), uuid).ok_or_else(|| no_job(&uuid.to_string()))?;
    let mut response = json(StatusCode::CREATED, &job);
    if let Ok(location) = header::HeaderValue::from_str(&format!("/v1/jobs/{uuid}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
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

/// Cancels a job. Tasks that wait will not run; those that hold room on hosts
/// turn `Releasing`, and their room is free once their executors report them
/// released. `force` frees it at once, on the caller's word that nothing of
/// the job runs any more.
#[utoipa::path(post, path = "/v1/jobs/{job}:cancel", tag = "jobs", security(("token" = [])),
    params(
        ("job" = Uuid, Path, description = "The job."),
        ("force" = Option<bool>, Query, description = "Nothing of it runs any more."),
    ),
    responses(
        (status = 200, description = "The job.", body = JobDetail),
        (status = 404, description = "There is no such job."),
        (status = 409, description = "It has ended by itself."),
    ))]
pub async fn cancel(
    caller: Caller,
    Part(key): Part,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:cancel")?;
    let mut params = Params::of(&request)?;
    let force = params.flag("force");
    params.finish()?;
    let (job, now) = (find(&key)?, caller.now());
    let ledger = &caller.api().ledger;
    ledger.write(&caller.request_id, move |image| store::cancel(image, job, force, now)).await?;
    let job = views::job(&ledger.image(), job).ok_or_else(|| no_job(&key))?;
    Ok(json(StatusCode::OK, &job))
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
    let ledger = &caller.api().ledger;
    ledger.write(&caller.request_id, move |image| store::forget(image, job)).await?;
    Ok(HttpResponse::NoContent().finish())
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
    let mut reader = serde_json::Deserializer::from_slice(&body);
    let reports: Vec<TaskReport> = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Failure::bad_request(format!("reports{error}")))?;
    reader.end().map_err(|error| Failure::bad_request(error.to_string()))?;
    let now = caller.now();
    let verdicts = caller
        .api()
        .ledger
        .write::<_, _, Infallible>(&caller.request_id, move |image| {
            Ok(store::report(image, &reports, now))
        })
        .await
        .map_err(never_refused)?;
    Ok(json(StatusCode::OK, &ReportAnswer { verdicts }))
}

fn never_refused(error: stowplan_ledger::WriteError<Infallible>) -> Failure {
    match error {
        stowplan_ledger::WriteError::Unavailable(trouble) => trouble.into(),
        stowplan_ledger::WriteError::Refused(never) => match never {},
    }
}

/// The job that a path names.
fn find(key: &str) -> Result<Uuid, Failure> {
    Uuid::parse_str(key).map_err(|_| no_job(key))
}

fn no_job(key: &str) -> Failure {
    BatchError::NoJob(key.to_owned()).into()
}

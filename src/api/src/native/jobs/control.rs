//! What owners do with their jobs.

use super::{
    super::{
        caller::Caller,
        params::{Params, json},
    },
    find, no_job,
};
use crate::{body::Body, failure::Failure, placement::path::Part};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use stowplan_batch::{
    store::{self, JobUpdate},
    views::{self, JobDetail},
};
use stowplan_model::Uuid;

/// Changes a job that has not ended: its priority, its minimum, the number of
/// tasks of its roles, the hints. Tasks that are too many leave; a hint counts
/// for tasks that wait.
#[utoipa::path(patch, path = "/v1/jobs/{job}", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    request_body(content = JobUpdate, example = json!({
        "priority": 10, "tasks": [{"role": "worker", "count": 8}],
    })),
    responses(
        (status = 200, description = "The job.", body = JobDetail),
        (status = 400, description = "Fields that cannot be, all of them named."),
        (status = 404, description = "There is no such job."),
        (status = 409, description = "It has ended, or no task waits that a hint would be for."),
    ))]
pub async fn update(
    caller: Caller,
    Part(key): Part,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:update")?;
    let update = store::read_update(&body)?;
    let most = u64::from(caller.api().settings.load().batch.max_tasks_per_job);
    let (job, now) = (find(&key)?, caller.now());
    caller.write(move |image| store::update_job(image, job, &update, most, now)).await?;
    shown(&caller, job)
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
    caller.write(move |image| store::cancel(image, job, force, now)).await?;
    shown(&caller, job)
}

/// Holds a job back: what runs has to leave, and nothing of it is placed until
/// it is resumed.
#[utoipa::path(post, path = "/v1/jobs/{job}:suspend", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    responses(
        (status = 200, description = "The job.", body = JobDetail),
        (status = 404, description = "There is no such job."),
        (status = 409, description = "It has ended."),
    ))]
pub async fn suspend(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:suspend")?;
    let (job, now) = (find(&key)?, caller.now());
    caller.write(move |image| store::suspend(image, job, now)).await?;
    shown(&caller, job)
}

/// Lets a suspended job wait for its places again.
#[utoipa::path(post, path = "/v1/jobs/{job}:resume", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    responses(
        (status = 200, description = "The job.", body = JobDetail),
        (status = 404, description = "There is no such job."),
        (status = 409, description = "It is not suspended."),
    ))]
pub async fn resume(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:resume")?;
    let (job, now) = (find(&key)?, caller.now());
    caller.write(move |image| store::resume(image, job, now)).await?;
    shown(&caller, job)
}

/// Puts a job back into its queue: all its tasks start anew, those that have
/// ended too. What runs has to leave first.
#[utoipa::path(post, path = "/v1/jobs/{job}:requeue", tag = "jobs", security(("token" = [])),
    params(("job" = Uuid, Path, description = "The job.")),
    responses(
        (status = 200, description = "The job.", body = JobDetail),
        (status = 404, description = "There is no such job."),
    ))]
pub async fn requeue(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:requeue")?;
    let (job, now) = (find(&key)?, caller.now());
    caller.write(move |image| store::requeue(image, job, now)).await?;
    shown(&caller, job)
}

fn shown(caller: &Caller, job: Uuid) -> Result<HttpResponse, Failure> {
    let detail = views::job(&caller.api().ledger.image(), job);
    Ok(json(StatusCode::OK, &detail.ok_or_else(|| no_job(&job.to_string()))?))
}
